/* Convolution in groups of few channels (`conv.h`). Maps are vectors along their rows.

   Every sum is one register of 16 or 8 neighbouring places; a block of them shares each number of the filter and each part of the
   map that is loaded. A map is copied once into one with a border, so that nothing is looked up at the edges. */

#include "native.h"
#include "vectors.h"
#include "conv.h"

enum { BLOCK = LANES < 8 ? 4 : LANES / 2, TAPS = 9 };

const int lanes = LANES, block = BLOCK;

static long pitch(const struct job *job) { return job->width + 2; }

static long plane(const struct job *job) { return (job->height + 2) * pitch(job); }

/* Where the second vector of a pair is: beside the first in its row, or below it where a row holds one. */
static long beside(const struct job *job, long pitch) { return job->width % (2 * LANES) ? pitch : LANES; }

static void with_border(const struct job *job, const float *from, float *to) {
    for (long c = 0; c < job->inputs; c++, to += plane(job))
        for (long y = 0; y < job->height; y++, from += job->width)
            memcpy(to + (y + 1) * pitch(job) + 1, from, job->width * sizeof(float));
}

/* Filters of a group as [output block][input][tap][output in the block]; transposed, those of the gradient for the input. */
static void pack(const struct job *job, long group, float *to) {
    for (long first = 0; first < job->outputs; first += BLOCK)
        for (long i = 0; i < job->inputs; i++)
            for (long tap = 0; tap < TAPS; tap++)
                for (long o = first; o < first + BLOCK; o++)
                    *to++ = job->transposed ? job->filters[((group * job->inputs + i) * job->outputs + o) * TAPS + TAPS - 1 - tap]
                                            : job->filters[((group * job->outputs + o) * job->inputs + i) * TAPS + tap];
}

static void convolve(const struct job *job, const float *maps, const float *filters, float *out) {
    const long row = pitch(job), second = beside(job, row), second_out = beside(job, job->width);
    const long taps[TAPS] = {0, 1, 2, row, row + 1, row + 2, 2 * row, 2 * row + 1, 2 * row + 2};
    const long size = job->height * job->width, step = second == LANES ? 1 : 2, places = second == LANES ? 2 * LANES : LANES;
    for (long first = 0; first < job->outputs; first += BLOCK, filters += job->inputs * TAPS * BLOCK, out += BLOCK * size)
        for (long y = 0; y < job->height; y += step)
            for (long x = 0; x < job->width; x += places) {
                vector sums[BLOCK][2];
#pragma GCC unroll 8
                for (int o = 0; o < BLOCK; o++) sums[o][0] = sums[o][1] = (vector){0};
                const float *filter = filters, *map = maps + y * row + x;
                for (long i = 0; i < job->inputs; i++, map += plane(job))
                    for (int tap = 0; tap < TAPS; tap++, filter += BLOCK) {
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
                for (int o = 0; o < BLOCK; o++) {
                    store(to + o * size, sums[o][0]);
                    store(to + o * size + second_out, sums[o][1]);
                }
            }
}

/* Sums over places of gradient times map, one vector for every entry of the filter. */
static void correlate(const struct job *job, const float *maps, const float *gradient, vector *totals) {
    const long row = pitch(job), size = job->height * job->width;
    for (long i = 0; i < job->inputs; i++, maps += plane(job))
        for (long first = 0; first < job->outputs; first += BLOCK)
            for (int ky = 0; ky < 3; ky++, totals += 3 * BLOCK) {
                vector sums[BLOCK][3];
#pragma GCC unroll 8
                for (int o = 0; o < BLOCK; o++)
#pragma GCC unroll 3
                    for (int kx = 0; kx < 3; kx++) sums[o][kx] = totals[o * 3 + kx];
                for (long y = 0; y < job->height; y++)
                    for (long x = 0; x < job->width; x += LANES) {
                        const float *map = maps + (y + ky) * row + x, *from = gradient + first * size + y * job->width + x;
                        const vector a = load(map), b = load(map + 1), c = load(map + 2);
#pragma GCC unroll 8
                        for (int o = 0; o < BLOCK; o++) {
                            vector g = load(from + o * size);
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

static void unpack(const struct job *job, const vector *totals, float *to) {
    for (long i = 0; i < job->inputs; i++)
        for (long first = 0; first < job->outputs; first += BLOCK)
            for (int ky = 0; ky < 3; ky++)
                for (int o = 0; o < BLOCK; o++)
                    for (int kx = 0; kx < 3; kx++, totals++) {
                        float sum = 0;
                        for (int lane = 0; lane < LANES; lane++) sum += (*totals)[lane];
                        to[((first + o) * job->inputs + i) * TAPS + ky * 3 + kx] = sum;
                    }
}

static void part(const void *of, long index, long parts) {
    const struct job *job = of;
    const long size = job->height * job->width, entries = job->inputs * job->outputs * TAPS;
    float *maps = calloc(job->inputs * plane(job) + 2 * LANES, sizeof(float));
    const size_t bytes = entries * (job->gradient ? sizeof(vector) : sizeof(float));
    void *filters = aligned_alloc(BYTES, (bytes + BYTES - 1) / BYTES * BYTES);
    for (long group = job->groups * index / parts; group < job->groups * (index + 1) / parts; group++) {
        if (job->gradient)
            memset(filters, 0, bytes);
        else
            pack(job, group, filters);
        for (long b = 0; b < job->batch; b++) {
            const long image = b * job->groups + group;
            with_border(job, job->maps + image * job->inputs * size, maps);
            if (job->gradient)
                correlate(job, maps, job->gradient + image * job->outputs * size, filters);
            else
                convolve(job, maps, filters, job->out + image * job->outputs * size);
        }
        if (job->gradient) unpack(job, filters, job->out + group * entries);
    }
    free(filters);
    free(maps);
}

long parts(const struct job *job) { return 1; }

void run(const struct job *job, int threads) { in_parts(part, job, threads); }
