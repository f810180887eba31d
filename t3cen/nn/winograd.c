/* Convolution in groups (`conv3x3.h`) by Winograd's minimal filtering F(2x2, 3x3).

   A tile of 4x4 places makes 2x2 results. Taken to 16 frequencies, tiles and filters are multiplied channel by channel: 16 products
   where the definition takes 36. Inside, channels come last and fill vectors, so any size of map will do. */

#include "native.h"
#include "vectors.h"
#include "conv3x3.h"
#include "channels_last.h"
#include "product.h"

enum { TAPS = 9, SIDE = 4, FREQUENCIES = SIDE * SIDE };

const int lanes = LANES, block = 1;

/* From one frequency to the next: off by one vector, so that they do not share a cache set. */
static long apart(long count) { return count + LANES; }

/* Rows of tiles, counted through all images. */
static long tiles_down(const struct job *job) { return (job->height + 1) / 2; }
static long tiles_across(const struct job *job) { return (job->width + 1) / 2; }
/* A staged row: two places a tile, and the border. */
static long staged_width(const struct job *job) { return 2 * tiles_across(job) + 2; }

/* Tiles of staged rows at their frequencies: to [frequency][tile][channel], a frequency `step` numbers from the next. */
static void analyse(const struct job *job, const float *from, long wide, float *to, long step) {
    const long row = staged_width(job) * wide;
    for (long c = 0; c < wide; c += LANES) {
        vector d[SIDE][SIDE];
        const float *place = from + c;
#define COLUMN(x, at)                                                                                                              \
    do {                                                                                                                           \
        const vector a = load(place + (at) * wide), b = load(place + (at) * wide + row);                                           \
        const vector e = load(place + (at) * wide + 2 * row), f = load(place + (at) * wide + 3 * row);                             \
        d[0][x] = a - e, d[1][x] = b + e, d[2][x] = e - b, d[3][x] = b - f;                                                        \
    } while (0)
        COLUMN(0, 0);
        COLUMN(1, 1);
        for (long t = 0; t < tiles_across(job); t++, place += 2 * wide) {
            COLUMN(2, 2);
            COLUMN(3, 3);
            float *out = to + t * wide + c;
#pragma GCC unroll 4
            for (int y = 0; y < SIDE; y++) {
                store(out + (4 * y) * step, d[y][0] - d[y][2]);
                store(out + (4 * y + 1) * step, d[y][1] + d[y][2]);
                store(out + (4 * y + 2) * step, d[y][2] - d[y][1]);
                store(out + (4 * y + 3) * step, d[y][1] - d[y][3]);
                d[y][0] = d[y][2], d[y][1] = d[y][3];
            }
        }
#undef COLUMN
    }
}

/* Results of a row of tiles: from [frequency][tile][channel] to two rows of places. */
static void synthesise(const struct job *job, const float *from, long step, long wide, long rows, float *to) {
    for (long t = 0; t < tiles_across(job); t++)
        for (long c = 0; c < wide; c += LANES) {
            vector d[2][SIDE];
#pragma GCC unroll 4
            for (int x = 0; x < SIDE; x++) {
                const float *at = from + t * wide + c + x * step;
                const vector a = load(at), b = load(at + 4 * step), e = load(at + 8 * step), f = load(at + 12 * step);
                d[0][x] = a + b + e, d[1][x] = b - e - f;
            }
            for (long y = 0; y < rows; y++) {
                float *out = to + (y * job->width + 2 * t) * wide + c;
                store(out, d[y][0] + d[y][1] + d[y][2]);
                if (2 * t + 1 < job->width) store(out + wide, d[y][1] - d[y][2] - d[y][3]);
            }
        }
}

/* The transpose of `synthesise`: from two staged rows to [frequency][tile][channel]. */
static void analyse_gradient(const struct job *job, const float *from, long wide, float *to, long step) {
    const long row = staged_width(job) * wide;
    for (long t = 0; t < tiles_across(job); t++)
        for (long c = 0; c < wide; c += LANES) {
            vector d[SIDE][2];
#pragma GCC unroll 2
            for (int x = 0; x < 2; x++) {
                const float *at = from + (2 * t + x) * wide + c;
                const vector a = load(at), b = load(at + row);
                d[0][x] = a, d[1][x] = a + b, d[2][x] = a - b, d[3][x] = -b;
            }
            float *out = to + t * wide + c;
#pragma GCC unroll 4
            for (int y = 0; y < SIDE; y++) {
                store(out + (4 * y) * step, d[y][0]);
                store(out + (4 * y + 1) * step, d[y][0] + d[y][1]);
                store(out + (4 * y + 2) * step, d[y][0] - d[y][1]);
                store(out + (4 * y + 3) * step, -d[y][1]);
            }
        }
}

/* One line of a filter: (a, b, e) at the frequencies a, (a + b + e) / 2, (a - b + e) / 2, e. */
#define LINE(to, a, b, e)                                                                                                          \
    do {                                                                                                                           \
        const vector half = 0.5f * ((a) + (e)), middle = 0.5f * (b);                                                               \
        to(0, a);                                                                                                                  \
        to(1, half + middle);                                                                                                      \
        to(2, half - middle);                                                                                                      \
        to(3, e);                                                                                                                  \
    } while (0)

/* Lines beside each other, `line` numbers apart: number by number, the same of all lines in a vector. */
static void columns(const float *from, long lines, long line, long count, vector *to) {
    for (long start = 0; start < count; start += LANES) {
        const long left_over = count - start, there = left_over < LANES ? left_over : LANES;
        vector v[LANES];
#pragma GCC unroll 16
        for (int i = 0; i < LANES; i++) {
            const float *at = from + i * line + start;
            v[i] = i >= lines ? (vector){0} : there == LANES ? load(at) : part_of(at, there);
        }
        transpose(v);
        for (long j = 0; j < there; j++) to[start + j] = v[j];
    }
}

/* Filters beside each other: tap by tap, the last one first, the same of all filters in a vector. */
static void reversed(const float *from, long filters, vector *to) {
    if (filters < LANES) memset(to, 0, TAPS * sizeof(vector));
    for (long i = 0; i < filters; i++)
#pragma GCC unroll 9
        for (int tap = 0; tap < TAPS; tap++) ((float *)(to + TAPS - 1 - tap))[i] = from[i * TAPS + tap];
}

static void analyse_filter(const vector *tap, float *to, long step) {
    vector d[SIDE][3];
#define DOWN(y, a) d[y][x] = (a)
#pragma GCC unroll 3
    for (int x = 0; x < 3; x++) LINE(DOWN, tap[x], tap[x + 3], tap[x + 6]);
#undef DOWN
#define ACROSS(x, a) store(to + (4 * y + (x)) * step, a)
#pragma GCC unroll 4
    for (int y = 0; y < SIDE; y++) LINE(ACROSS, d[y][0], d[y][1], d[y][2]);
#undef ACROSS
}

/* Filters of a group at their frequencies, for results `first` to `last`: to [frequency][channel][result]. Transposed, those of the
   gradient for the input, whose channels are the results. */
static void analyse_filters(const struct job *job, long group, long first, long last, float *to) {
    const long depth = job->inputs, wide = padded(last - first), step = apart(depth * wide);
    const float *filters = job->filters + group * job->inputs * job->outputs * TAPS;
    vector taps[TAPS * LANES];
    if (job->transposed)
        for (long c = 0; c < depth; c++)
            for (long o = first; o < last; o += LANES) {
                reversed(filters + (c * job->outputs + o) * TAPS, least(last - o, LANES), taps);
                analyse_filter(taps, to + c * wide + o - first, step);
            }
    else
        for (long o = first; o < last; o += LANES)
            for (long start = 0; start < depth; start += LANES) {
                const long stop = least(start + LANES, depth);
                columns(filters + (o * depth + start) * TAPS, least(last - o, LANES), depth * TAPS, (stop - start) * TAPS, taps);
                for (long c = start; c < stop; c++) analyse_filter(taps + (c - start) * TAPS, to + c * wide + o - first, step);
            }
}

/* The transpose of `analyse_filters`: totals, [frequency][result][channel], to the filters' gradient, (results, channels, 3, 3). */
static void synthesise_filters(const struct job *job, const float *totals, long results, float *to) {
    const long wide = padded(job->inputs), step = apart(padded(results) * wide);
    for (long o = 0; o < results; o++)
        for (long c = 0; c < job->inputs; c += LANES) {
            vector d[3][SIDE];
            float taps[TAPS][LANES] __attribute__((aligned(BYTES)));
            const float *from = totals + o * wide + c;
#define BACK(to0, to1, to2, a, b, e, f)                                                                                            \
    do {                                                                                                                           \
        const vector sum = 0.5f * ((b) + (e)), difference = 0.5f * ((b) - (e));                                                    \
        to0 = (a) + sum, to1 = difference, to2 = sum + (f);                                                                        \
    } while (0)
#pragma GCC unroll 4
            for (int x = 0; x < SIDE; x++) {
                const float *at = from + x * step;
                BACK(d[0][x], d[1][x], d[2][x], load(at), load(at + 4 * step), load(at + 8 * step), load(at + 12 * step));
            }
#pragma GCC unroll 3
            for (int y = 0; y < 3; y++)
                BACK(*(vector *)taps[3 * y], *(vector *)taps[3 * y + 1], *(vector *)taps[3 * y + 2], d[y][0], d[y][1], d[y][2], d[y][3]);
            const long count = job->inputs - c < LANES ? job->inputs - c : LANES;
            float *out = to + (o * job->inputs + c) * TAPS;
            for (long i = 0; i < count; i++)
                for (int tap = 0; tap < TAPS; tap++) out[i * TAPS + tap] = taps[tap][i];
        }
}

/* How a job is cut: each group into parts of its rows of tiles, and those by their results. The same for any number of threads. */
struct cut {
    long at_once, tile_parts, result_parts, results;
};

/* A part that is worked on, and the room it takes: maps and results with channels last, both at their frequencies, filters. */
struct item {
    const struct job *job;
    long group, first, last, inputs, results, tiles;
    float *maps, *places, *at_maps, *at_results, *filters;
};

enum { FEWEST_ITEMS = 12, FEWEST_TILES = 128, NUMBERS_AT_ONCE = 4096, TILES_AT_ONCE = 32, FILTERS_AT_ONCE = 1 << 14 };

static struct cut cut(const struct job *job) {
    const long rows = job->batch * tiles_down(job), wanted = shares(FEWEST_ITEMS, job->groups), blocks = shares(job->outputs, WIDE * LANES);
    const long tile_parts = most(1, least(rows, least(wanted, rows * tiles_across(job) / FEWEST_TILES)));
    const long some = shares(blocks, least(blocks, shares(wanted, tile_parts)));
    /* Filters at their frequencies stay in the second-level cache too. */
    const long results = most(1, least(some, FILTERS_AT_ONCE / job->inputs / (WIDE * LANES))) * WIDE * LANES;
    /* As many tiles as stay in the second-level cache, but enough to make something of the filters. */
    const long tiles = most(NUMBERS_AT_ONCE / padded(job->inputs), TILES_AT_ONCE);
    return (struct cut){most(1, tiles / tiles_across(job)), tile_parts, shares(job->outputs, results), results};
}

long parts(const struct job *job) { return cut(job).tile_parts; }

static long at_maps_apart(const struct item *item) { return apart(item->tiles * item->inputs); }
static long at_results_apart(const struct item *item) { return apart(item->tiles * item->results); }

/* Rows `row` to `next` of tiles, all of one image, which come after `before` others. */
static void take(const struct item *item, long row, long next, long before) {
    const struct job *job = item->job;
    const long image = row / tiles_down(job) * job->groups + item->group, top = 2 * (row % tiles_down(job)), rows = 2 * (next - row);
    const float *maps = job->maps + image * job->inputs * job->height * job->width;
    const long pitch = staged_width(job), across = tiles_across(job);
    stage(maps, job->inputs, job->height, job->width, top - 1, rows + 2, 1, pitch, item->maps);
    for (long y = 0; y < rows; y += 2)
        analyse(job, item->maps + y * pitch * item->inputs, item->inputs,
                item->at_maps + (before + y / 2) * across * item->inputs, at_maps_apart(item));
    if (!job->gradient) return;
    const float *gradient = job->gradient + (image * job->outputs + item->first) * job->height * job->width;
    stage(gradient, item->last - item->first, job->height, job->width, top, rows, 0, pitch, item->places);
    for (long y = 0; y < rows; y += 2)
        analyse_gradient(job, item->places + y * pitch * item->results, item->results,
                         item->at_results + (before + y / 2) * across * item->results, at_results_apart(item));
}

static void give(const struct item *item, long row, long next, long before) {
    const struct job *job = item->job;
    const long image = row / tiles_down(job) * job->groups + item->group, across = tiles_across(job), size = job->height * job->width;
    const long top = 2 * (row % tiles_down(job)), bottom = least(top + 2 * (next - row), job->height);
    for (long y = top; y < bottom; y += 2)
        synthesise(job, item->at_results + (before + (y - top) / 2) * across * item->results, at_results_apart(item), item->results,
                   least(bottom - y, 2), item->places + (y - top) * job->width * item->results);
    float *to = job->out + (image * job->outputs + item->first) * size + top * job->width;
    unstage(item->places, (bottom - top) * job->width, item->last - item->first, size, to);
}

/* Rows of tiles, image by image. */
static void by_images(const struct item *item, long start, long stop, void what(const struct item *, long, long, long)) {
    const long down = tiles_down(item->job);
    for (long row = start, next; row < stop; row = next) {
        next = least((row / down + 1) * down, stop);
        what(item, row, next, row - start);
    }
}

static void multiply_all(const struct item *item, long tiles) {
    const long depth = item->job->inputs, inputs = item->inputs, results = item->results;
    for (long k = 0; k < FREQUENCIES; k++) {
        const float *maps = item->at_maps + k * at_maps_apart(item);
        float *at_results = item->at_results + k * at_results_apart(item);
        if (item->job->gradient)
            multiply(at_results, 1, results, maps, inputs, item->filters + k * apart(results * inputs), inputs, tiles, results, inputs, 1);
        else
            multiply(maps, inputs, 1, item->filters + k * apart(depth * results), results, at_results, results, depth,
                     shares(tiles, LONG) * LONG, results, 0);
    }
}

static float *room(long count) {
    const size_t bytes = shares(count * sizeof(float), 64) * 64;
    return memset(aligned_alloc(64, bytes), 0, bytes);
}

static void part(const void *of, long index, long parts) {
    const struct job *job = of;
    const struct cut pieces = cut(job);
    const long inputs = padded(job->inputs), results = padded(pieces.results), across = tiles_across(job);
    const long tiles = shares(pieces.at_once * across, LONG) * LONG, places = 2 * pieces.at_once * staged_width(job) * results;
    struct item item = {job, .inputs = inputs, .tiles = tiles};
    item.maps = room((2 * pieces.at_once + 2) * staged_width(job) * inputs);
    item.places = room(places);
    item.at_maps = room(FREQUENCIES * apart(tiles * inputs));
    item.at_results = room(FREQUENCIES * apart(tiles * results));
    item.filters = room(FREQUENCIES * apart(inputs * results));
    const long each = pieces.tile_parts * pieces.result_parts, all = job->groups * each, rows = job->batch * tiles_down(job);
    for (long i = all * index / parts; i < all * (index + 1) / parts; i++) {
        const long tile_part = i % each / pieces.result_parts;
        item.group = i / each;
        item.first = i % pieces.result_parts * pieces.results;
        item.last = least(item.first + pieces.results, job->outputs);
        item.results = padded(item.last - item.first);
        if (job->gradient) {
            memset(item.filters, 0, FREQUENCIES * apart(inputs * item.results) * sizeof(float));
            memset(item.places, 0, places * sizeof(float));
        } else
            analyse_filters(job, item.group, item.first, item.last, item.filters);
        const long end = rows * (tile_part + 1) / pieces.tile_parts;
        for (long start = rows * tile_part / pieces.tile_parts, stop; start < end; start = stop) {
            stop = least(start + pieces.at_once, end);
            by_images(&item, start, stop, take);
            multiply_all(&item, (stop - start) * across);
            if (!job->gradient) by_images(&item, start, stop, give);
        }
        if (job->gradient) {
            float *to = job->out + ((tile_part * job->groups + item.group) * job->outputs + item.first) * job->inputs * TAPS;
            synthesise_filters(job, item.filters, item.last - item.first, to);
        }
    }
    free(item.maps), free(item.places), free(item.at_maps), free(item.at_results), free(item.filters);
}

void run(const struct job *job, int threads) { in_parts(part, job, threads); }
