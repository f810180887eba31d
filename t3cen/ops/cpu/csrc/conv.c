/* Convolution in groups (`conv.h`). Inside, channels come last and fill vectors, so any size of map will do. */

#include "native.h"
#include "vectors.h"
#include "conv.h"
#include "channels_last.h"
#include "product.h"
#include "tiles.h"
#include "direct.h"
#include "winograd.h"

const int lanes = LANES, block = 1;

/* From one number of a tile to the next: off by one vector, so that they do not share a cache set. */
static long apart(long count) { return count + LANES; }

static const struct way *way(const struct job *job) {
    if (job->kernel == 1) return &POINTWISE;
    if (job->step == 1) return &WINOGRAD;
    return job->transposed ? &STRIDED_BACK : &STRIDED;
}

/* Places of the inputs in a tile, in each direction. */
static long tile(const struct job *job) { return job->kernel == 1 ? 1 : 2; }
/* Rows of tiles are counted through all images. */
static long tiles_down(const struct job *job) { return shares(job->height, tile(job)); }
static long tiles_across(const struct job *job) { return shares(job->width, tile(job)); }

/* A map of one side: of the inputs where a tile has as many places there, of the results where it has one. */
struct map {
    long height, width, pitch;
};

static struct map map(const struct job *job, struct side side) {
    const long pitch = tiles_across(job) * side.each + side.before + side.after;
    if (side.each == tile(job)) return (struct map){job->height, job->width, pitch};
    return (struct map){tiles_down(job), tiles_across(job), pitch};
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
INLINE void together(const float *from, long filters, const long taps, long turned, vector *to) {
    if (filters < LANES) memset(to, 0, taps * sizeof(vector));
    for (long i = 0; i < filters; i++)
#pragma GCC unroll 9
        for (int tap = 0; tap < taps; tap++) ((float *)(to + (turned ? taps - 1 - tap : tap)))[i] = from[i * taps + tap];
}

/* Filters of a group for results `first` to `last`: to [number][channel][result]. Transposed, their channels are the results. */
static void analyse_filters(const struct job *job, long group, long first, long last, float *to) {
    const struct way *by = way(job);
    const long depth = job->inputs, wide = padded(last - first), step = apart(depth * wide), taps = by->taps;
    const float *filters = job->filters + group * job->inputs * job->outputs * taps;
    vector made[9 * LANES];
    if (job->transposed)
        for (long c = 0; c < depth; c++)
            for (long o = first; o < last; o += LANES) {
                const float *from = filters + (c * job->outputs + o) * taps;
                if (taps == 9)
                    together(from, least(last - o, LANES), 9, by->turned, made);
                else
                    together(from, least(last - o, LANES), 1, 0, made);
                by->analyse_filter(made, to + c * wide + o - first, step);
            }
    else
        for (long o = first; o < last; o += LANES)
            for (long start = 0; start < depth; start += LANES) {
                const long stop = least(start + LANES, depth);
                columns(filters + (o * depth + start) * taps, least(last - o, LANES), depth * taps, (stop - start) * taps, made);
                for (long c = start; c < stop; c++)
                    by->analyse_filter(made + (c - start) * taps, to + c * wide + o - first, step);
            }
}

/* The transpose: totals, [number][result][channel], to the filters' gradient, (results, channels, taps). */
static void synthesise_filters(const struct job *job, const float *totals, long results, float *to) {
    const struct way *by = way(job);
    const long wide = padded(job->inputs), step = apart(padded(results) * wide);
    for (long o = 0; o < results; o++)
        for (long c = 0; c < job->inputs; c += LANES) {
            vector taps[9];
            by->synthesise_filter(totals + o * wide + c, step, taps);
            float *out = to + (o * job->inputs + c) * by->taps;
            for (long i = 0; i < least(job->inputs - c, LANES); i++)
                for (long tap = 0; tap < by->taps; tap++) *out++ = ((float *)(taps + tap))[i];
        }
}

/* How a job is cut: each group into parts of its rows of tiles, and those by their results. The same for any number of threads. */
struct cut {
    long at_once, tile_parts, result_parts, results;
};

enum { FEWEST_ITEMS = 12, FEWEST_TILES = 128, NUMBERS_AT_ONCE = 1 << 16, TILES_AT_ONCE = 32, FILTERS_AT_ONCE = 1 << 18 };

static struct cut cut(const struct job *job) {
    const struct way *by = way(job);
    const long rows = job->batch * tiles_down(job), wanted = shares(FEWEST_ITEMS, job->groups), blocks = shares(job->outputs, WIDE * LANES);
    const long tile_parts = most(1, least(rows, least(wanted, rows * tiles_across(job) / FEWEST_TILES)));
    const long some = shares(blocks, least(blocks, shares(wanted, tile_parts)));
    /* Filters stay in the second-level cache. */
    const long fit = FILTERS_AT_ONCE / (by->filters * job->inputs * WIDE * LANES);
    const long results = most(1, least(some, fit)) * WIDE * LANES;
    /* As many tiles as stay there too, but enough to make something of the filters. */
    const long tiles = most(NUMBERS_AT_ONCE / (most(by->sources, by->results) * padded(job->inputs)), TILES_AT_ONCE);
    return (struct cut){most(1, tiles / tiles_across(job)), tile_parts, shares(job->outputs, results), results};
}

long parts(const struct job *job) { return cut(job).tile_parts; }

/* A part that is worked on, and the room it takes: maps and results with channels last, both as numbers of tiles, filters. */
struct item {
    const struct job *job;
    const struct way *by;
    struct map source, result;
    long group, first, last, inputs, results, tiles;
    float *maps, *places, *at_maps, *at_results, *filters;
};

static long at_maps_apart(const struct item *item) { return apart(item->tiles * item->inputs); }
static long at_results_apart(const struct item *item) { return apart(item->tiles * item->results); }

/* Rows `row` to `next` of tiles, all of one image, which come after `before` others. */
static void take(const struct item *item, long row, long next, long before) {
    const struct job *job = item->job;
    const struct side source = item->by->source, result = item->by->result;
    const long image = row / tiles_down(job) * job->groups + item->group, top = row % tiles_down(job), rows = next - row;
    const float *maps = job->maps + image * job->inputs * item->source.height * item->source.width;
    const long across = tiles_across(job);
    stage(maps, job->inputs, item->source.height, item->source.width, source.each * top - source.before,
          source.each * rows + source.before + source.after, source.before, item->source.pitch, item->maps);
    for (long y = 0; y < rows; y++)
        item->by->analyse(item->maps + source.each * y * item->source.pitch * item->inputs, item->source.pitch, across, item->inputs,
                          item->at_maps + (before + y) * across * item->inputs, at_maps_apart(item));
    if (!job->gradient) return;
    const float *gradient = job->gradient + (image * job->outputs + item->first) * item->result.height * item->result.width;
    stage(gradient, item->last - item->first, item->result.height, item->result.width, result.each * top, result.each * rows, 0,
          item->result.pitch, item->places);
    for (long y = 0; y < rows; y++)
        item->by->analyse_gradient(item->places + result.each * y * item->result.pitch * item->results, item->result.pitch, across,
                                   item->results, item->at_results + (before + y) * across * item->results, at_results_apart(item));
}

static void give(const struct item *item, long row, long next, long before) {
    const struct job *job = item->job;
    const struct map map = item->result;
    const long image = row / tiles_down(job) * job->groups + item->group, across = tiles_across(job), size = map.height * map.width;
    const long each = item->by->result.each, top = each * (row % tiles_down(job)), bottom = least(top + each * (next - row), map.height);
    for (long y = top; y < bottom; y += each)
        item->by->synthesise(item->at_results + (before + (y - top) / each) * across * item->results, at_results_apart(item), across,
                             item->results, least(bottom - y, each), map.width, item->places + (y - top) * map.width * item->results);
    float *to = job->out + (image * job->outputs + item->first) * size + top * map.width;
    unstage(item->places, (bottom - top) * map.width, item->last - item->first, size, to);
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
    for (long n = 0; n < item->by->count; n++) {
        const struct product now = item->by->products[n];
        const float *maps = item->at_maps + now.source * at_maps_apart(item);
        float *at_results = item->at_results + now.result * at_results_apart(item);
        float *filters = item->filters + now.filter * apart(item->job->gradient ? results * inputs : depth * results);
        const long rows = shares(tiles, LONG) * LONG;
        if (item->job->gradient)
            multiply(at_results, 1, results, maps, inputs, filters, inputs, tiles, results, inputs, 1);
        else if (n && item->by->products[n - 1].result == now.result)
            multiply(maps, inputs, 1, filters, results, at_results, results, depth, rows, results, 1);
        else
            multiply(maps, inputs, 1, filters, results, at_results, results, depth, rows, results, 0);
    }
}

static float *room(long count) {
    const size_t bytes = shares(count * sizeof(float), 64) * 64;
    return memset(aligned_alloc(64, bytes), 0, bytes);
}

static void part(const void *of, long index, long parts) {
    const struct job *job = of;
    const struct way *by = way(job);
    const struct cut pieces = cut(job);
    const long inputs = padded(job->inputs), results = padded(pieces.results), across = tiles_across(job);
    const long tiles = shares(pieces.at_once * across, LONG) * LONG;
    struct item item = {job, by, map(job, by->source), map(job, by->result), .inputs = inputs, .tiles = tiles};
    const long places = by->result.each * pieces.at_once * item.result.pitch * results;
    item.maps = room((by->source.each * pieces.at_once + by->source.before + by->source.after) * item.source.pitch * inputs);
    item.places = room(places);
    item.at_maps = room(by->sources * apart(tiles * inputs));
    item.at_results = room(by->results * apart(tiles * results));
    item.filters = room(by->filters * apart(inputs * results));
    const long each = pieces.tile_parts * pieces.result_parts, all = job->groups * each, rows = job->batch * tiles_down(job);
    for (long i = all * index / parts; i < all * (index + 1) / parts; i++) {
        const long tile_part = i % each / pieces.result_parts;
        item.group = i / each;
        item.first = i % pieces.result_parts * pieces.results;
        item.last = least(item.first + pieces.results, job->outputs);
        item.results = padded(item.last - item.first);
        if (job->gradient) {
            memset(item.filters, 0, by->filters * apart(inputs * item.results) * sizeof(float));
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
            float *to = job->out + ((tile_part * job->groups + item.group) * job->outputs + item.first) * job->inputs * by->taps;
            synthesise_filters(job, item.filters, item.last - item.first, to);
        }
    }
    free(item.maps), free(item.places), free(item.at_maps), free(item.at_results), free(item.filters);
}

void run(const struct job *job, int threads) { in_parts(part, job, threads); }
