/* Filters of a group, laid out for products: [panel of outputs][number][channel][output in the panel]. The numbers are the taps of the
   filters, or what an algorithm makes of them. Panels are WIDE vectors, the last perhaps fewer, filled up with zeros. */

enum { PANEL = WIDE * LANES };

/* From one number to the next: off by one vector, so that they do not share a cache set. */
static long apart(long count) { return count + LANES; }

static long panel_width(long outputs, long panel) { return least(PANEL, padded(outputs - panel)); }

/* All before an output at which a panel starts. */
static long panels_before(long output, long numbers, long depth) { return output / PANEL * numbers * apart(depth * PANEL); }

static long panels_size(long outputs, long numbers, long depth) {
    const long last = outputs / PANEL * PANEL;
    return panels_before(last, numbers, depth) + (last < outputs ? numbers * apart(depth * panel_width(outputs, last)) : 0);
}

/* `take_lines` for lines of any length. */
static void columns(const float *from, long lines, long line, long count, vector *to) {
    for (long start = 0; start < count; start += LANES) {
        const long there = least(count - start, LANES);
        vector v[LANES];
        take_lines(from + start, lines, line, there, v);
        for (long j = 0; j < there; j++) to[start + j] = v[j];
    }
}

/* Filters beside each other, perhaps turned around: tap by tap, the same of all filters in a vector. */
static void together(const float *from, long filters, long turned, vector *to) {
    if (filters < LANES) memset(to, 0, TAPS * sizeof(vector));
    for (long i = 0; i < filters; i++)
#pragma GCC unroll 9
        for (int tap = 0; tap < TAPS; tap++) ((float *)(to + (turned ? TAPS - 1 - tap : tap)))[i] = from[i * TAPS + tap];
}

/* Packed filters of a group, from an output at which a panel starts. */
static const float *packed_filters(const struct job *job, long group, long output) {
    return job->packed + group * panels_size(job->outputs, TAPS, job->inputs) + panels_before(output, TAPS, job->inputs);
}

/* Outputs `first`, where a panel starts, to `last` of a group. */
static void transform_filters(const struct job *job, const struct algorithm *by, long group, long first, long last, float *to) {
    const long depth = job->inputs;
    const float *filters = job->filters + group * depth * job->outputs * TAPS;
    for (long o = first; o < last; o += LANES) {
        const long panel = o / PANEL * PANEL, wide = panel_width(last, panel), next = apart(depth * wide), outputs = least(last - o, LANES);
        float *out = to + panels_before(panel - first, by->filter_numbers, depth) + o - panel;
        const float *packed = job->packed ? packed_filters(job, group, panel) + o - panel : NULL;
        vector made[TAPS * LANES];
        for (long start = 0; start < depth; start += LANES) {
            const long stop = least(start + LANES, depth);
            if (!packed && !job->transposed)
                columns(filters + (o * depth + start) * TAPS, outputs, depth * TAPS, (stop - start) * TAPS, made);
            for (long c = start; c < stop; c++) {
                vector *at = made + (c - start) * TAPS;
                if (packed)
                    for (long tap = 0; tap < TAPS; tap++) at[tap] = load(packed + tap * next + c * wide);
                else if (job->transposed)
                    together(filters + (c * job->outputs + o) * TAPS, outputs, by->turned, at);
                if (by->winograd)
                    winograd_filter(at, out + c * wide, next);
                else
                    for (int tap = 0; tap < TAPS; tap++) store(out + c * wide + tap * next, at[tap]);
            }
        }
    }
}

/* The transpose: totals, [number][output][channel], to the filters' gradient, (outputs, channels, taps). */
static void transpose_filters(const struct job *job, const struct algorithm *by, const float *totals, long outputs, float *to) {
    const long wide = padded(job->inputs), step = apart(padded(outputs) * wide);
    for (long o = 0; o < outputs; o++)
        for (long c = 0; c < job->inputs; c += LANES) {
            vector taps[TAPS];
            if (by->winograd)
                filter_transposed(totals + o * wide + c, step, taps);
            else
                for (int tap = 0; tap < TAPS; tap++) taps[tap] = load(totals + o * wide + c + tap * step);
            float *out = to + (o * job->inputs + c) * TAPS;
            for (long i = 0; i < least(job->inputs - c, LANES); i++)
                for (long tap = 0; tap < TAPS; tap++) *out++ = ((float *)(taps + tap))[i];
        }
}
