/* Products of small matrices, with all sums of a block in registers. */

enum { LONG = BYTES == 64 ? 8 : 4, WIDE = 2 };

/* out[i][j] (+)= sum over k of a[i * across + k * along] b[k * row + j], for LONG i and some vectors of j. */
INLINE void product(const float *a, long across, long along, const float *b, long row, float *out, long out_row, long depth,
                    const int vectors, const int add) {
    vector sums[LONG][WIDE];
#pragma GCC unroll 16
    for (int i = 0; i < LONG; i++)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++) sums[i][j] = add ? load(out + i * out_row + j * LANES) : (vector){0};
    for (long k = 0; k < depth; k++, a += along, b += row) {
        vector right[WIDE];
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++) right[j] = load(b + j * LANES);
#pragma GCC unroll 16
        for (int i = 0; i < LONG; i++) {
            vector left = SPREAD(a[i * across]);
            KEEP(left);
#pragma GCC unroll 2
            for (int j = 0; j < vectors; j++) sums[i][j] += left * right[j];
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < LONG; i++)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++) store(out + i * out_row + j * LANES, sums[i][j]);
}

/* A matrix product, `rows` a multiple of LONG, `columns` of LANES; `add` is a constant, so that a sum that starts loads nothing. */
INLINE void multiply(const float *a, long across, long along, const float *b, long row, float *out, long out_row, long depth,
                     long rows, long columns, const int add) {
    long j = 0;
    for (; j + WIDE * LANES <= columns; j += WIDE * LANES)
        for (long i = 0; i < rows; i += LONG)
            product(a + i * across, across, along, b + j, row, out + i * out_row + j, out_row, depth, WIDE, add);
    for (; j < columns; j += LANES)
        for (long i = 0; i < rows; i += LONG)
            product(a + i * across, across, along, b + j, row, out + i * out_row + j, out_row, depth, 1, add);
}
