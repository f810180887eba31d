/* Maps with their channels last, filled up to whole vectors, and back. */

#if defined(__clang__) || __GNUC__ >= 12
#define PICK(a, b, f, s) __builtin_shufflevector(a, b, LIST(f, s))
#else
#define PICK(a, b, f, s) __builtin_shuffle(a, b, (bits){LIST(f, s)})
#endif
/* A square of numbers, rows for columns. */
#define FIRST(j, s) ((j) & (s) ? (j) - (s) + LANES : (j))
#define SECOND(j, s) ((j) & (s) ? (j) + LANES : (j) + (s))
#define EXCHANGE(s)                                                                                                                \
    for (int i = 0; i < LANES; i++)                                                                                                \
        if (!(i & s)) {                                                                                                            \
            const vector a = v[i], b = v[i + s];                                                                                   \
            v[i] = PICK(a, b, FIRST, s);                                                                                           \
            v[i + s] = PICK(a, b, SECOND, s);                                                                                      \
        }
INLINE void transpose(vector v[LANES]) {
#pragma GCC unroll 16
    EXCHANGE(1)
#pragma GCC unroll 16
    EXCHANGE(2)
#if BYTES >= 32
#pragma GCC unroll 16
    EXCHANGE(4)
#endif
#if BYTES >= 64
#pragma GCC unroll 16
    EXCHANGE(8)
#endif
}

static long padded(long channels) { return shares(channels, LANES) * LANES; }

static vector part_of(const float *from, long count) {
    vector v = {0};
    memcpy(&v, from, count * sizeof(float));
    return v;
}

/* `count` numbers of each line, `line` apart: number by number, the same of all lines in a vector, and zero for those there are not. */
INLINE void take_lines(const float *from, long lines, long line, long count, vector v[LANES]) {
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++)
        v[i] = i >= lines ? (vector){0} : count == LANES ? load(from + i * line) : part_of(from + i * line, count);
    transpose(v);
}

/* Rows `top` to `top + rows` of maps, (channels, height, width), to (rows, pitch, padded channels). Rows outside are zero; of others
   `left` places stay as they are, and those after the map. */
static void stage(const float *from, long channels, long height, long width, long top, long rows, long left, long pitch, float *to) {
    const long wide = padded(channels), size = height * width, row = pitch * wide;
    const long first = most(top, 0), last = least(top + rows, height);
    for (long y = top; y < first; y++) memset(to + (y - top) * row, 0, row * sizeof(float));
    for (long y = last; y < top + rows; y++) memset(to + (y - top) * row, 0, row * sizeof(float));
    for (long c = 0; c < wide; c += LANES) {
        long y = first, x = 0;
        for (long place = first * width; place < last * width; place += LANES) {
            const long count = least(last * width - place, LANES);
            vector v[LANES];
            take_lines(from + c * size + place, channels - c, size, count, v);
            for (int j = 0; j < count; j++) {
                store(to + (y - top) * row + (x + left) * wide + c, v[j]);
                if (++x == width) x = 0, y++;
            }
        }
    }
}

/* Places in a row, (places, padded channels), to maps, (channels, size). */
static void unstage(const float *from, long places, long channels, long size, float *to) {
    const long wide = padded(channels);
    for (long c = 0; c < wide; c += LANES)
        for (long place = 0; place < places; place += LANES) {
            const long count = least(places - place, LANES);
            vector v[LANES];
#pragma GCC unroll 16
            for (int j = 0; j < LANES; j++) v[j] = j < count ? load(from + (place + j) * wide + c) : (vector){0};
            for (int i = 0; i < LANES && c + i < channels; i++) __builtin_prefetch(to + (c + i) * size + place + 2 * LANES, 1);
            transpose(v);
            for (int i = 0; i < LANES && c + i < channels; i++)
                if (count == LANES)
                    store(to + (c + i) * size + place, v[i]);
                else
                    memcpy(to + (c + i) * size + place, &v[i], count * sizeof(float));
        }
}
