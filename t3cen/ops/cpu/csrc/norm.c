/* Batch normalisation in training, with the sum and the ReLU that follow it in a network. Each way takes two passes over the maps,
   of which the first makes sums over every channel.

   Maps are rows of channels, one row for every image and group element. Sums are made over blocks of rows, whichever thread has
   them, and then over the blocks in order, in double precision: the number of threads changes no bit. */

#include <math.h>

#include "native.h"
#include "vectors.h"

const int lanes = LANES;

/* The result is (map - centre) * scale + shift. The centre is the mean in single precision: far from zero, nothing else would keep
   the digits of the difference. */
struct line {
    float centre, scale, shift;
};

/* The gradient of the map is gradient * scale + (map - centre) * slope + offset. */
struct back {
    float slope, offset;
};

/* Over a block: of a factor, and of the factor times map - centre. Forwards the factor is map - centre too, backwards the gradient. */
struct sums {
    double first, second, centre;
};

/* What comes between the normalisation and the result: nothing, ReLU, or a sum and ReLU. */
enum ending { PLAIN, RECTIFIED, SUMMED };

struct job {
    const float *maps, *shortcut, *gradient, *result, *weight, *bias;
    float *out, *to_shortcut, *to_weight, *to_bias;
    double *mean, *variance;
    struct line *lines;
    struct back *backs;
    struct sums *sums;
    long rows, channels, size, block, ending;
    double eps;
};

INLINE vector line_at(struct line line, vector map) { return (map - line.centre) * line.scale + line.shift; }

/* Zero where the sign is not positive; what is not a number counts as positive. */
INLINE vector where_positive(vector a, vector sign) { return (vector)((bits)a & ~(sign <= 0)); }

INLINE float total(vector a) {
    float lane[LANES];
    memcpy(lane, &a, sizeof a);
#pragma GCC unroll 8
    for (int half = LANES / 2; half; half /= 2)
        for (int i = 0; i < half; i++) lane[i] += lane[i + half];
    return lane[0];
}

static long blocks(const struct job *job) { return shares(job->rows, job->block); }

/* One plane of one channel. */
struct plane {
    const float *map, *shortcut, *gradient, *result;
    float *out, *to_shortcut;
};

static struct plane plane(const struct job *job, long row, long channel) {
    const long start = (row * job->channels + channel) * job->size;
#define AT(tensor) job->tensor ? job->tensor + start : NULL
    return (struct plane){AT(maps), AT(shortcut), AT(gradient), AT(result), AT(out), AT(to_shortcut)};
}

/* The gradient behind the ending: that of the normalisation, and of what is added to it. */
INLINE vector gradient_at(struct plane plane, long i, struct line line, enum ending ending) {
    const vector gradient = load(plane.gradient + i);
    if (ending == PLAIN) return gradient;
    return where_positive(gradient, ending == SUMMED ? load(plane.result + i) : line_at(line, load(plane.map + i)));
}

/* Adds to both sums what the vector at i has, without its first `known` lanes. */
INLINE void add(vector sums[2], struct plane plane, long i, long known, struct line line, int backward, enum ending ending) {
    const vector map = load(plane.map + i) - line.centre;
    vector factor = backward ? gradient_at(plane, i, line, ending) : map;
    if (backward && ending == SUMMED) store(plane.to_shortcut + i, factor);
    if (known) {
        bits lane;
        for (int j = 0; j < LANES; j++) lane[j] = j;
        factor = (vector)((bits)factor & (lane >= (int)known));
    }
    sums[0] += factor;
    sums[1] += factor * map;
}

/* A sum has four parts where a plane has as many vectors: with one, each addition would wait for the last. The vector at the end of
   a plane may begin in the one before. */
INLINE void add_plane(vector sums[2], struct plane plane, long size, struct line line, int backward, enum ending ending) {
    long i = 0;
    if (size >= 4 * LANES) {
        vector parts[4][2] = {{{0}}};
        for (; i <= size - 4 * LANES; i += 4 * LANES)
#pragma GCC unroll 4
            for (int part = 0; part < 4; part++) add(parts[part], plane, i + part * LANES, 0, line, backward, ending);
        for (int k = 0; k < 2; k++) sums[k] += (parts[0][k] + parts[1][k]) + (parts[2][k] + parts[3][k]);
    }
    for (; i <= size - LANES; i += LANES) add(sums, plane, i, 0, line, backward, ending);
    if (i < size) add(sums, plane, size - LANES, i - (size - LANES), line, backward, ending);
}

/* Near enough to the mean of a channel in this block for differences from it to keep their digits. */
static float centre(const struct job *job, long row, long channel) {
    vector sums[2] = {{0}};
    add_plane(sums, plane(job, row, channel), job->size, (struct line){0}, 0, PLAIN);
    return total(sums[0]) / job->size;
}

INLINE void sum_blocks(const struct job *job, long index, long parts, int backward, enum ending ending) {
    const long channels = job->channels, size = job->size, all = blocks(job);
    vector(*totals)[2] = aligned_alloc(BYTES, channels * sizeof *totals);
    struct line *lines = malloc(channels * sizeof *lines);
    if (backward) memcpy(lines, job->lines, channels * sizeof *lines);
    for (long block = all * index / parts; block < all * (index + 1) / parts; block++) {
        const long first = block * job->block, last = least(first + job->block, job->rows);
        memset(totals, 0, channels * sizeof *totals);
        for (long row = first; row < last; row++)
            for (long c = 0; c < channels; c++) {
                if (!backward && row == first) lines[c].centre = centre(job, row, c);
                add_plane(totals[c], plane(job, row, c), size, lines[c], backward, ending);
            }
        struct sums *sums = job->sums + block * channels;
        for (long c = 0; c < channels; c++) sums[c] = (struct sums){total(totals[c][0]), total(totals[c][1]), lines[c].centre};
    }
    free(lines);
    free(totals);
}

INLINE vector result_at(struct plane plane, long i, struct line line, enum ending ending) {
    vector result = line_at(line, load(plane.map + i));
    if (ending == SUMMED) result += load(plane.shortcut + i);
    return ending == PLAIN ? result : where_positive(result, result);
}

INLINE vector to_map_at(struct plane plane, long i, struct line line, struct back back, enum ending ending) {
    /* The sums have left it for the shortcut. */
    const vector gradient = ending == SUMMED ? load(plane.to_shortcut + i) : gradient_at(plane, i, line, ending);
    return gradient * line.scale + ((load(plane.map + i) - line.centre) * back.slope + back.offset);
}

INLINE void write(const struct job *job, long index, long parts, int backward, enum ending ending) {
    const long size = job->size, last = job->rows * (index + 1) / parts;
    for (long row = job->rows * index / parts; row < last; row++)
        for (long c = 0; c < job->channels; c++) {
            const struct plane at = plane(job, row, c);
            const struct line line = job->lines[c];
            const struct back back = backward ? job->backs[c] : (struct back){0};
            for (long next = 0; next < size; next += LANES) {
                /* The last vector ends with the plane, and makes again what it shares with the one before. */
                const long i = next <= size - LANES ? next : size - LANES;
                store(at.out + i, backward ? to_map_at(at, i, line, back, ending) : result_at(at, i, line, ending));
            }
        }
}

/* Each ending is compiled by itself, so that none asks at every vector which it is. */
#define BY_ENDING(name, pass, backward)                                            \
    static void name(const void *of, long index, long parts) {                     \
        const struct job *job = of;                                                \
        if (job->ending == PLAIN) pass(job, index, parts, backward, PLAIN);         \
        if (job->ending == RECTIFIED) pass(job, index, parts, backward, RECTIFIED); \
        if (job->ending == SUMMED) pass(job, index, parts, backward, SUMMED);       \
    }
BY_ENDING(write_results, write, 0)
BY_ENDING(write_gradients, write, 1)
BY_ENDING(sum_gradients, sum_blocks, 1)

static void sum_maps(const void *job, long index, long parts) { sum_blocks(job, index, parts, 0, PLAIN); }

/* Values of a channel in a block. */
static double values(const struct job *job, long block) {
    return (double)job->size * least(job->rows - block * job->block, job->block);
}

static void settle(const struct job *job) {
    const double count = (double)job->rows * job->size;
    for (long c = 0; c < job->channels; c++) {
        double mean = 0, variance = 0;
        for (long block = 0; block < blocks(job); block++) {
            const struct sums sums = job->sums[block * job->channels + c];
            mean += sums.first + sums.centre * values(job, block);
        }
        mean /= count;
        for (long block = 0; block < blocks(job); block++) {
            const struct sums sums = job->sums[block * job->channels + c];
            const double off = mean - sums.centre;
            variance += sums.second - 2 * off * sums.first + off * off * values(job, block);
        }
        variance = variance < 0 ? 0 : variance / count;
        const double scale = (job->weight ? job->weight[c] : 1) / sqrt(variance + job->eps);
        const float centre = mean;
        job->mean[c] = mean;
        job->variance[c] = variance;
        job->lines[c] = (struct line){centre, scale, (job->bias ? job->bias[c] : 0) - (mean - centre) * scale};
    }
}

static void settle_gradients(const struct job *job) {
    const double count = (double)job->rows * job->size;
    for (long c = 0; c < job->channels; c++) {
        double gradient = 0, product = 0;
        for (long block = 0; block < blocks(job); block++) {
            gradient += job->sums[block * job->channels + c].first;
            product += job->sums[block * job->channels + c].second;
        }
        const double near = job->mean[c] - job->lines[c].centre, inverse = 1 / (job->variance[c] + job->eps);
        product -= near * gradient;
        const double slope = -job->lines[c].scale * inverse * product / count;
        job->to_weight[c] = product * sqrt(inverse);
        job->to_bias[c] = gradient;
        job->backs[c] = (struct back){slope, -job->lines[c].scale * gradient / count - slope * near};
    }
}

void forward(const struct job *of, int threads) {
    struct job job = *of;
    job.sums = malloc(blocks(&job) * job.channels * sizeof *job.sums);
    in_parts(sum_maps, &job, threads);
    settle(&job);
    in_parts(write_results, &job, threads);
    free(job.sums);
}

/* Without a place for it, no gradient of the maps. */
void backward(const struct job *of, int threads) {
    struct job job = *of;
    job.sums = malloc(blocks(&job) * job.channels * sizeof *job.sums);
    job.backs = malloc(job.channels * sizeof *job.backs);
    in_parts(sum_gradients, &job, threads);
    settle_gradients(&job);
    if (job.out) in_parts(write_gradients, &job, threads);
    free(job.backs);
    free(job.sums);
}
