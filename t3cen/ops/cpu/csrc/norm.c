/* Batch normalisation in training, with the residual sum and the ReLU behind it. Forwards and backwards are two passes over the
   maps each, the first of which reduces every channel to its sums.

   Maps, shortcut, gradients and result are (rows, channels, size): a row for every image and group element, a plane of `size` values
   for every channel of it. What belongs to a channel is (channels). Sums are made over blocks of rows, whichever thread has them, and
   then over the blocks in order, in double precision: the number of threads changes no bit. */

#include <math.h>

#include "native.h"
#include "vectors.h"

const int lanes = LANES;

/* The normalised map is (map - centre) * scale + shift. The centre is the mean in single precision: far from zero, nothing else would
   keep the digits of the difference. */
struct affine {
    float centre, scale, shift;
};

/* The gradient of the map is gradient * scale + (map - centre) * slope + offset. */
struct correction {
    float slope, offset;
};

/* Over a block: of a factor, and of the factor times map - centre. Forwards the factor is map - centre too, backwards the gradient. */
struct sums {
    double first, second, centre;
};

/* What comes between the normalisation and the result: nothing, ReLU, or the residual sum and ReLU. */
enum ending { PLAIN, RELU, SUMMED };

struct job {
    const float *maps, *shortcut, *gradient, *result; /* (rows, channels, size); shortcut and result if SUMMED */
    const float *weight, *bias;                       /* (channels), or NULL for 1 and 0 */
    float *out, *to_shortcut;                         /* (rows, channels, size) */
    float *to_weight, *to_bias;                       /* (channels) */
    double *mean, *variance;                          /* (channels), made forwards and read backwards */
    long rows, channels, size, block, ending;         /* a block's sums over rows are in single precision */
    double eps;
    /* Of this file alone. */
    vector (*totals)[2];            /* (threads, channels) */
    struct sums *sums;              /* (blocks, channels) */
    struct affine *affines;         /* (channels) */
    struct correction *corrections; /* (channels) */
};

INLINE vector normalised_at(struct affine affine, vector map) { return (map - affine.centre) * affine.scale + affine.shift; }

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
INLINE vector gradient_at(struct plane plane, long i, struct affine affine, enum ending ending) {
    const vector gradient = load(plane.gradient + i);
    if (ending == PLAIN) return gradient;
    return where_positive(gradient, ending == SUMMED ? load(plane.result + i) : normalised_at(affine, load(plane.map + i)));
}

/* Adds to both sums what the vector at i has, without its first `known` lanes. */
INLINE void add(vector sums[2], struct plane plane, long i, long known, struct affine affine, int backward, enum ending ending) {
    const vector map = load(plane.map + i) - affine.centre;
    vector factor = backward ? gradient_at(plane, i, affine, ending) : map;
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
INLINE void add_plane(vector sums[2], struct plane plane, long size, struct affine affine, int backward, enum ending ending) {
    long i = 0;
    if (size >= 4 * LANES) {
        vector parts[4][2] = {{{0}}};
        for (; i <= size - 4 * LANES; i += 4 * LANES)
#pragma GCC unroll 4
            for (int part = 0; part < 4; part++) add(parts[part], plane, i + part * LANES, 0, affine, backward, ending);
        for (int k = 0; k < 2; k++) sums[k] += (parts[0][k] + parts[1][k]) + (parts[2][k] + parts[3][k]);
    }
    for (; i <= size - LANES; i += LANES) add(sums, plane, i, 0, affine, backward, ending);
    if (i < size) add(sums, plane, size - LANES, i - (size - LANES), affine, backward, ending);
}

/* Near enough to the mean of a channel in this block for differences from it to keep their digits. */
static float centre(const struct job *job, long row, long channel) {
    vector sums[2] = {{0}};
    add_plane(sums, plane(job, row, channel), job->size, (struct affine){0}, 0, PLAIN);
    return total(sums[0]) / job->size;
}

INLINE void sum_blocks(const struct job *job, long index, long parts, int backward, enum ending ending) {
    const long channels = job->channels, size = job->size, all = blocks(job);
    vector(*totals)[2] = job->totals + index * channels;
    for (long block = all * index / parts; block < all * (index + 1) / parts; block++) {
        const long first = block * job->block, last = least(first + job->block, job->rows);
        struct sums *sums = job->sums + block * channels;
        memset(totals, 0, channels * sizeof *totals);
        for (long row = first; row < last; row++)
            for (long c = 0; c < channels; c++) {
                if (row == first) sums[c].centre = backward ? job->affines[c].centre : centre(job, row, c);
                const struct affine affine = backward ? job->affines[c] : (struct affine){.centre = sums[c].centre};
                add_plane(totals[c], plane(job, row, c), size, affine, backward, ending);
            }
        for (long c = 0; c < channels; c++) {
            sums[c].first = total(totals[c][0]);
            sums[c].second = total(totals[c][1]);
        }
    }
}

INLINE vector result_at(struct plane plane, long i, struct affine affine, enum ending ending) {
    vector result = normalised_at(affine, load(plane.map + i));
    if (ending == SUMMED) result += load(plane.shortcut + i);
    return ending == PLAIN ? result : where_positive(result, result);
}

INLINE vector to_map_at(struct plane plane, long i, struct affine affine, struct correction correction, enum ending ending) {
    /* The sums have left it for the shortcut. */
    const vector gradient = ending == SUMMED ? load(plane.to_shortcut + i) : gradient_at(plane, i, affine, ending);
    return gradient * affine.scale + ((load(plane.map + i) - affine.centre) * correction.slope + correction.offset);
}

INLINE void write(const struct job *job, long index, long parts, int backward, enum ending ending) {
    const long size = job->size, last = job->rows * (index + 1) / parts;
    for (long row = job->rows * index / parts; row < last; row++)
        for (long c = 0; c < job->channels; c++) {
            const struct plane at = plane(job, row, c);
            const struct affine affine = job->affines[c];
            const struct correction correction = backward ? job->corrections[c] : (struct correction){0};
            for (long next = 0; next < size; next += LANES) {
                /* The last vector ends with the plane, and makes again what it shares with the one before. */
                const long i = next <= size - LANES ? next : size - LANES;
                store(at.out + i, backward ? to_map_at(at, i, affine, correction, ending) : result_at(at, i, affine, ending));
            }
        }
}

/* Each ending is compiled by itself, so that none asks at every vector which it is. */
#define BY_ENDING(name, pass, backward)                                      \
    static void name(const void *of, long index, long parts) {               \
        const struct job *job = of;                                          \
        if (job->ending == PLAIN) pass(job, index, parts, backward, PLAIN);   \
        if (job->ending == RELU) pass(job, index, parts, backward, RELU);     \
        if (job->ending == SUMMED) pass(job, index, parts, backward, SUMMED); \
    }
BY_ENDING(write_results, write, 0)
BY_ENDING(write_gradients, write, 1)
BY_ENDING(sum_gradients, sum_blocks, 1)

static void sum_maps(const void *job, long index, long parts) { sum_blocks(job, index, parts, 0, PLAIN); }

/* How many values of a channel are in a block. */
static double values(const struct job *job, long block) {
    return (double)job->size * least(job->rows - block * job->block, job->block);
}

static void settle_moments(const struct job *job) {
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
        job->mean[c] = mean;
        job->variance[c] = variance < 0 ? 0 : variance / count;
    }
}

static void settle_affines(const struct job *job) {
    for (long c = 0; c < job->channels; c++) {
        const double scale = (job->weight ? job->weight[c] : 1) / sqrt(job->variance[c] + job->eps);
        const float centre = job->mean[c];
        job->affines[c] = (struct affine){centre, scale, (job->bias ? job->bias[c] : 0) - (job->mean[c] - centre) * scale};
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
        const double near = job->mean[c] - job->affines[c].centre, inverse = 1 / (job->variance[c] + job->eps);
        product -= near * gradient;
        const double slope = -job->affines[c].scale * inverse * product / count;
        job->to_weight[c] = product * sqrt(inverse);
        job->to_bias[c] = gradient;
        job->corrections[c] = (struct correction){slope, -job->affines[c].scale * gradient / count - slope * near};
    }
}

/* Room for what the job needs beside its tensors, in one piece; 0 if there is none. */
static void *reserve(struct job *job, long threads) {
    const long channels = job->channels, sums = blocks(job) * channels;
    const size_t bytes = threads * channels * sizeof *job->totals + sums * sizeof *job->sums +
                         channels * (sizeof *job->affines + sizeof *job->corrections);
    job->totals = aligned_alloc(BYTES, shares(bytes, BYTES) * BYTES);
    if (!job->totals) return NULL;
    job->sums = (struct sums *)(job->totals + threads * channels);
    job->affines = (struct affine *)(job->sums + sums);
    job->corrections = (struct correction *)(job->affines + channels);
    return job->totals;
}

/* Both give 0, or 1 where there is no memory. */
int forward(const struct job *of, int threads) {
    struct job job = *of;
    void *memory = reserve(&job, threads);
    if (!memory) return 1;
    in_parts(sum_maps, &job, threads);
    settle_moments(&job);
    settle_affines(&job);
    in_parts(write_results, &job, threads);
    free(memory);
    return 0;
}

int backward(const struct job *of, int threads) {
    struct job job = *of;
    void *memory = reserve(&job, threads);
    if (!memory) return 1;
    settle_affines(&job);
    in_parts(sum_gradients, &job, threads);
    settle_gradients(&job);
    in_parts(write_gradients, &job, threads);
    free(memory);
    return 0;
}
