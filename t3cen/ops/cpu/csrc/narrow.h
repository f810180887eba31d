/* 3x3 convolution in groups of few channels by its definition, with vectors along the rows of the map.

   Every sum is one register of neighbouring places; those of all outputs share each part of the map that is loaded. A map is copied
   once into one with a border, so that nothing is looked up at the edges. */

/* Channels that half fill a vector: their sums are as many as there are registers, and Winograd's filtering takes 1.4 to 2.5 times as
   long. Channels that fill it are as fast by Winograd's. */
enum { BLOCK = LANES == 16 ? 8 : 4 };
static int few(const struct job *job) {
    const int in_pairs = job->width % (2 * LANES) == 0 || (job->width % LANES == 0 && job->height % 2 == 0);
    return job->stride == 1 && most(job->inputs, job->outputs) <= BLOCK && in_pairs;
}

static long bordered(const struct job *job) { return job->width + 2; }

static long plane(const struct job *job) { return (job->height + 2) * bordered(job); }

/* Where the second vector of a pair is: beside the first in its row, or below it where a row holds one. */
static long beside(const struct job *job, long row) { return job->width % (2 * LANES) ? row : LANES; }

static void with_border(const struct job *job, const float *from, float *to) {
    for (long c = 0; c < job->inputs; c++, to += plane(job))
        for (long y = 0; y < job->height; y++, from += job->width)
            memcpy(to + (y + 1) * bordered(job) + 1, from, job->width * sizeof(float));
}

static void convolve(const struct job *job, const float *maps, const float *filters, float *out) {
    const long row = bordered(job), second = beside(job, row), second_out = beside(job, job->width);
    const long taps[TAPS] = {0, 1, 2, row, row + 1, row + 2, 2 * row, 2 * row + 1, 2 * row + 2};
    const long size = job->height * job->width, step = second == LANES ? 1 : 2, places = second == LANES ? 2 * LANES : LANES;
    const long wide = padded(job->outputs), next = apart(job->inputs * wide);
    for (long y = 0; y < job->height; y += step)
        for (long x = 0; x < job->width; x += places) {
            vector sums[BLOCK][2];
#pragma GCC unroll 8
            for (int o = 0; o < BLOCK; o++) sums[o][0] = sums[o][1] = (vector){0};
            const float *map = maps + y * row + x;
            for (long i = 0; i < job->inputs; i++, map += plane(job))
                for (int tap = 0; tap < TAPS; tap++) {
                    const float *filter = filters + tap * next + i * wide;
                    const vector a = load(map + taps[tap]), b = load(map + taps[tap] + second);
#pragma GCC unroll 8
                    for (int o = 0; o < BLOCK; o++) {
                        vector weight = SPREAD(filter[o]);
                        KEEP(weight);
                        sums[o][0] += a * weight;
                        sums[o][1] += b * weight;
                    }
                }
            float *to = out + y * job->width + x;
#pragma GCC unroll 8
            for (int o = 0; o < BLOCK; o++)
                if (o < job->outputs) {
                    store(to + o * size, sums[o][0]);
                    store(to + o * size + second_out, sums[o][1]);
                }
        }
}

/* Sums over places of gradient times map, one vector for every entry of the filter, [input][row of taps][output][column of taps].
   Outputs that fill the block up are the last one's again. */
static void correlate(const struct job *job, const float *maps, const float *gradient, vector *totals) {
    const long row = bordered(job), size = job->height * job->width, last = job->outputs - 1;
    for (long i = 0; i < job->inputs; i++, maps += plane(job))
        for (int ky = 0; ky < 3; ky++, totals += 3 * BLOCK) {
            vector sums[BLOCK][3];
#pragma GCC unroll 8
            for (int o = 0; o < BLOCK; o++)
#pragma GCC unroll 3
                for (int kx = 0; kx < 3; kx++) sums[o][kx] = totals[o * 3 + kx];
            for (long y = 0; y < job->height; y++)
                for (long x = 0; x < job->width; x += LANES) {
                    const float *map = maps + (y + ky) * row + x, *from = gradient + y * job->width + x;
                    const vector a = load(map), b = load(map + 1), c = load(map + 2);
#pragma GCC unroll 8
                    for (int o = 0; o < BLOCK; o++) {
                        vector g = load(from + least(o, last) * size);
                        KEEP(g);
                        sums[o][0] += g * a;
                        sums[o][1] += g * b;
                        sums[o][2] += g * c;
                    }
                }
#pragma GCC unroll 8
            for (int o = 0; o < BLOCK; o++)
#pragma GCC unroll 3
                for (int kx = 0; kx < 3; kx++) totals[o * 3 + kx] = sums[o][kx];
        }
}

static void sum_lanes(const struct job *job, const vector *totals, float *to) {
    for (long i = 0; i < job->inputs; i++)
        for (int ky = 0; ky < 3; ky++)
            for (long o = 0; o < BLOCK; o++)
                for (int kx = 0; kx < 3; kx++, totals++) {
                    float sum = 0;
                    for (int lane = 0; lane < LANES; lane++) sum += (*totals)[lane];
                    if (o < job->outputs) to[(o * job->inputs + i) * TAPS + ky * 3 + kx] = sum;
                }
}

static void few_part(const void *of, long index, long parts) {
    const struct job *job = of;
    const long size = job->height * job->width, each = panels_size(job->outputs, TAPS, job->inputs);
    const long entries = job->inputs * BLOCK * TAPS, filter_room = job->gradient ? entries * LANES : each;
    const long map_room = job->inputs * plane(job) + 2 * LANES;
    vector *totals = room(job, (filter_room + map_room) * sizeof(float));
    if (!totals) return;
    float *filters = (float *)totals, *maps = filters + filter_room;
    memset(maps, 0, map_room * sizeof(float));
    for (long group = job->groups * index / parts; group < job->groups * (index + 1) / parts; group++) {
        if (job->gradient)
            memset(totals, 0, entries * sizeof(vector));
        else if (!job->packed)
            transform_filters(job, &BY_TAPS, group, 0, job->outputs, filters);
        const float *taps = job->packed ? packed_filters(job, group, 0) : filters;
        for (long b = 0; b < job->batch; b++) {
            const long image = b * job->groups + group;
            with_border(job, job->maps + image * job->inputs * size, maps);
            if (job->gradient)
                correlate(job, maps, job->gradient + image * job->outputs * size, totals);
            else
                convolve(job, maps, taps, job->out + image * job->outputs * size);
        }
        if (job->gradient) sum_lanes(job, totals, job->out + group * job->inputs * job->outputs * TAPS);
    }
    free(totals);
}
