/* Convolution in groups (`conv.h`). Few channels are convolved along the rows of maps (`narrow.h`). More come last inside and fill
   vectors, so any size of map will do; and so do filters that are packed once for many calls. */

#include "native.h"
#include "vectors.h"
#include "conv.h"
#include "channels_last.h"
#include "product.h"
#include "algorithm.h"
#include "direct.h"
#include "winograd.h"
#include "filters.h"
#include "narrow.h"

const int lanes = LANES;

/* Places that packed 3x3 filters are convolved with as they are: it takes longer to make Winograd's 16 numbers of 9 than it saves. */
enum { MOST_BY_TAPS = 36 };

static const struct algorithm *algorithm(const struct job *job) {
    if (job->stride == 1) return job->packed && job->batch * job->height * job->width <= MOST_BY_TAPS ? &BY_TAPS : &WINOGRAD;
    return job->transposed ? &STRIDED_BACK : &STRIDED;
}

/* Places of a tile on its longer side, in each direction. */
static long tile(const struct job *job) { return most(algorithm(job)->input.places, algorithm(job)->output.places); }
/* Rows of tiles are counted through all images. */
static long tiles_down(const struct job *job) { return shares(job->height, tile(job)); }
static long tiles_across(const struct job *job) { return shares(job->width, tile(job)); }

/* A map of one side: of the inputs where a tile has as many places there, of the results where it has one. A row of tiles takes
   `pitch` places. */
struct map {
    long height, width, pitch;
};

static struct map map(const struct job *job, struct side side) {
    const long pitch = tiles_across(job) * side.places + side.before + side.after;
    if (side.places == tile(job)) return (struct map){job->height, job->width, pitch};
    return (struct map){tiles_down(job), tiles_across(job), pitch};
}

/* How a job is cut: each group into parts of its rows of tiles, and those by their outputs. The same for any number of threads. */
struct cut {
    long at_once, tile_parts, output_parts, outputs;
};

enum { FEWEST_ITEMS = 12, FEWEST_TILES = 128, NUMBERS_AT_ONCE = 1 << 16, TILES_AT_ONCE = 32, FILTERS_AT_ONCE = 1 << 18 };

static struct cut cut(const struct job *job) {
    const struct algorithm *by = algorithm(job);
    const long rows = job->batch * tiles_down(job), wanted = shares(FEWEST_ITEMS, job->groups), panels = shares(job->outputs, PANEL);
    const long tile_parts = most(1, least(rows, least(wanted, rows * tiles_across(job) / FEWEST_TILES)));
    const long some = shares(panels, least(panels, shares(wanted, tile_parts)));
    /* Filters stay in the second-level cache. */
    const long fit = FILTERS_AT_ONCE / (by->filter_numbers * job->inputs * PANEL);
    const long outputs = most(1, least(some, fit)) * PANEL;
    /* As many tiles as stay there too, but enough to make something of the filters. */
    const long tiles = most(NUMBERS_AT_ONCE / (most(by->input_numbers, by->output_numbers) * padded(job->inputs)), TILES_AT_ONCE);
    return (struct cut){most(1, least(rows, tiles / tiles_across(job))), tile_parts, shares(job->outputs, outputs), outputs};
}

/* A part that is worked on. */
struct item {
    const struct job *job;
    const struct algorithm *by;
    struct map input, output;
    long inputs, outputs;     /* Channels, filled up to whole vectors. */
    long tiles;               /* There is room for. */
    long group, first, last;  /* Outputs `first` to `last` of a group. */
    float *maps, *places;     /* (rows, pitch, inputs) and (rows, pitch, outputs). */
    float *tiles_in;          /* [number][tile][input] */
    float *tiles_out;         /* [number][tile][output] */
    float *totals;            /* Of the filters' gradient, [number][output][input]; else room for filters. */
    const float *filters;     /* In panels (`filters.h`). */
};

static long in_apart(const struct item *item) { return apart(item->tiles * item->inputs); }
static long out_apart(const struct item *item) { return apart(item->tiles * item->outputs); }

/* Of a side: places to tiles, after `before` other rows of tiles. */
static void read_rows(const struct item *item, read_tiles *read, struct side side, const float *places, long pitch, long wide, long before,
                      long rows, float *tiles) {
    const long across = tiles_across(item->job);
    for (long y = 0; y < rows; y++)
        read(places + side.places * y * pitch * wide, pitch, across, wide, side, tiles + (before + y) * across * wide, apart(item->tiles * wide));
}

/* Rows `row` to `next` of tiles, all of one image, which come after `before` others. */
static void take(const struct item *item, long row, long next, long before) {
    const struct job *job = item->job;
    const struct side input = item->by->input, output = item->by->output;
    const struct map map = item->input, seen = item->output;
    const long image = row / tiles_down(job) * job->groups + item->group, top = row % tiles_down(job), rows = next - row;
    stage(job->maps + image * job->inputs * map.height * map.width, job->inputs, map.height, map.width, input.places * top - input.before,
          input.places * rows + input.before + input.after, input.before, map.pitch, item->maps);
    read_rows(item, item->by->read_input, input, item->maps, map.pitch, item->inputs, before, rows, item->tiles_in);
    if (!job->gradient) return;
    const float *gradient = job->gradient + (image * job->outputs + item->first) * seen.height * seen.width;
    stage(gradient, item->last - item->first, seen.height, seen.width, output.places * top, output.places * rows, 0, seen.pitch, item->places);
    read_rows(item, item->by->read_output, output, item->places, seen.pitch, item->outputs, before, rows, item->tiles_out);
}

static void give(const struct item *item, long row, long next, long before) {
    const struct job *job = item->job;
    const struct map map = item->output;
    const long image = row / tiles_down(job) * job->groups + item->group, across = tiles_across(job), size = map.height * map.width;
    const long each = item->by->output.places, top = each * (row % tiles_down(job)), bottom = least(top + each * (next - row), map.height);
    for (long y = top; y < bottom; y += each) {
        const float *tiles = item->tiles_out + (before + (y - top) / each) * across * item->outputs;
        float *places = item->places + (y - top) * map.width * item->outputs;
        if (item->by->winograd)
            output_transform(tiles, out_apart(item), across, item->outputs, least(bottom - y, each), map.width, places);
        else
            place(tiles, out_apart(item), across, item->outputs, least(bottom - y, each), map.width, each, places);
    }
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
    const struct algorithm *by = item->by;
    const long depth = item->job->inputs, inputs = item->inputs, outputs = item->outputs, rows = shares(tiles, LONG) * LONG;
    for (long n = 0; n < by->count; n++) {
        const struct product now = by->products[n];
        const int more = n && by->products[n - 1].output == now.output;
        float *in = item->tiles_in + now.input * in_apart(item), *out = item->tiles_out + now.output * out_apart(item);
        if (item->job->gradient) {
            multiply(out, 1, outputs, in, inputs, item->totals + now.filter * apart(outputs * inputs), inputs, tiles, outputs, inputs, 1);
            continue;
        }
        memset(in + tiles * inputs, 0, (rows - tiles) * inputs * sizeof(float));
        for (long panel = 0; panel < outputs; panel += PANEL) {
            const long wide = panel_width(outputs, panel);
            const float *filters = item->filters + panels_before(panel, by->filter_numbers, depth) + now.filter * apart(depth * wide);
            more ? multiply(in, inputs, 1, filters, wide, out + panel, outputs, depth, rows, wide, 1)
                 : multiply(in, inputs, 1, filters, wide, out + panel, outputs, depth, rows, wide, 0);
        }
    }
}

static void tiled_part(const void *of, long index, long parts) {
    const struct job *job = of;
    const struct algorithm *by = algorithm(job);
    const struct cut cuts = cut(job);
    const long inputs = padded(job->inputs), across = tiles_across(job), tiles = shares(cuts.at_once * across, LONG) * LONG;
    struct item item = {.job = job, .by = by, .input = map(job, by->input), .output = map(job, by->output), .inputs = inputs, .tiles = tiles};
    const long maps = (by->input.places * cuts.at_once + by->input.before + by->input.after) * item.input.pitch * inputs;
    const long places = by->output.places * cuts.at_once * item.output.pitch * cuts.outputs;
    const long tiles_in = by->input_numbers * apart(tiles * inputs), tiles_out = by->output_numbers * apart(tiles * cuts.outputs);
    const long totals = by->filter_numbers * apart(inputs * cuts.outputs), filters = panels_size(cuts.outputs, by->filter_numbers, job->inputs);
    item.maps = room(job, (maps + places + tiles_in + tiles_out + (job->gradient ? totals : filters)) * sizeof(float));
    if (!item.maps) return;
    item.places = item.maps + maps;
    item.tiles_in = item.places + places;
    item.tiles_out = item.tiles_in + tiles_in;
    item.totals = item.tiles_out + tiles_out;
    memset(item.maps, 0, maps * sizeof(float));
    const long each = cuts.tile_parts * cuts.output_parts, all = job->groups * each, rows = job->batch * tiles_down(job);
    for (long i = all * index / parts; i < all * (index + 1) / parts; i++) {
        const long tile_part = i % each / cuts.output_parts;
        item.group = i / each;
        item.first = i % cuts.output_parts * cuts.outputs;
        item.last = least(item.first + cuts.outputs, job->outputs);
        item.outputs = padded(item.last - item.first);
        item.filters = item.totals;
        if (job->gradient) {
            memset(item.totals, 0, by->filter_numbers * apart(inputs * item.outputs) * sizeof(float));
            memset(item.places, 0, places * sizeof(float));
        } else if (job->packed && by->filter_numbers == TAPS)
            item.filters = packed_filters(job, item.group, item.first);
        else
            transform_filters(job, by, item.group, item.first, item.last, item.totals);
        const long end = rows * (tile_part + 1) / cuts.tile_parts;
        for (long start = rows * tile_part / cuts.tile_parts, stop; start < end; start = stop) {
            stop = least(start + cuts.at_once, end);
            by_images(&item, start, stop, take);
            multiply_all(&item, (stop - start) * across);
            if (!job->gradient) by_images(&item, start, stop, give);
        }
        if (job->gradient) {
            float *to = job->out + ((tile_part * job->groups + item.group) * job->outputs + item.first) * job->inputs * TAPS;
            transpose_filters(job, by, item.totals, item.last - item.first, to);
        }
    }
    free(item.maps);
}

static void pack_part(const void *of, long index, long parts) {
    const struct job *job = of;
    const long each = panels_size(job->outputs, TAPS, job->inputs);
    for (long group = job->groups * index / parts; group < job->groups * (index + 1) / parts; group++)
        transform_filters(job, &BY_TAPS, group, 0, job->outputs, job->out + group * each);
}

/* Whether it is faster here than elsewhere: channels fill vectors, and half of one is nothing, unless Winograd's filtering saves more. */
long takes(const struct job *job) {
    return least(job->inputs, job->outputs) > LANES / 2 || (job->stride == 1 && LANES < 16) || few(job);
}

long parts(const struct job *job) { return few(job) ? 1 : cut(job).tile_parts; }

long packed_size(const struct job *job) { return job->groups * panels_size(job->outputs, TAPS, job->inputs); }

/* Returns zero, or how many bytes could not be had. */
long run(const struct job *of, int threads) {
    long lacking = 0;
    struct job job = *of;
    job.lacking = &lacking;
    in_parts(few(&job) ? few_part : tiled_part, &job, threads);
    return lacking;
}

/* The filters to `out`, for any maps on this machine. */
long pack(const struct job *job, int threads) {
    in_parts(pack_part, job, threads);
    return 0;
}
