/* 3x3 convolution by Winograd's minimal filtering F(2x2, 3x3): a tile d of 4x4 places makes 2x2 outputs A'[(G g G') * (B' d B)]A. The
   16 numbers of tiles and filters are multiplied channel by channel: 16 products where the definition takes 36. */

enum { SIDE = 4 };

/* B' d B. */
static void input_transform(const float *from, long pitch, long across, long wide, struct side side, float *to, long apart) {
    const long row = pitch * wide;
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
        for (long t = 0; t < across; t++, place += side.places * wide) {
            COLUMN(2, 2);
            COLUMN(3, 3);
            float *out = to + t * wide + c;
#pragma GCC unroll 4
            for (int y = 0; y < SIDE; y++) {
                store(out + (4 * y) * apart, d[y][0] - d[y][2]);
                store(out + (4 * y + 1) * apart, d[y][1] + d[y][2]);
                store(out + (4 * y + 2) * apart, d[y][2] - d[y][1]);
                store(out + (4 * y + 3) * apart, d[y][1] - d[y][3]);
                d[y][0] = d[y][2], d[y][1] = d[y][3];
            }
        }
#undef COLUMN
    }
}

/* A' m A: back to `rows` rows of places, `width` places long. */
static void output_transform(const float *from, long apart, long across, long wide, long rows, long width, float *to) {
    for (long t = 0; t < across; t++)
        for (long c = 0; c < wide; c += LANES) {
            vector d[2][SIDE];
#pragma GCC unroll 4
            for (int x = 0; x < SIDE; x++) {
                const float *at = from + t * wide + c + x * apart;
                const vector a = load(at), b = load(at + 4 * apart), e = load(at + 8 * apart), f = load(at + 12 * apart);
                d[0][x] = a + b + e, d[1][x] = b - e - f;
            }
            for (long y = 0; y < rows; y++) {
                float *out = to + (y * width + 2 * t) * wide + c;
                store(out, d[y][0] + d[y][1] + d[y][2]);
                if (2 * t + 1 < width) store(out + wide, d[y][1] - d[y][2] - d[y][3]);
            }
        }
}

/* A m A': the transpose of `output_transform`. */
static void output_transposed(const float *from, long pitch, long across, long wide, struct side side, float *to, long apart) {
    const long row = pitch * wide;
    for (long t = 0; t < across; t++)
        for (long c = 0; c < wide; c += LANES) {
            vector d[SIDE][2];
#pragma GCC unroll 2
            for (int x = 0; x < 2; x++) {
                const float *at = from + (side.places * t + x) * wide + c;
                const vector a = load(at), b = load(at + row);
                d[0][x] = a, d[1][x] = a + b, d[2][x] = a - b, d[3][x] = -b;
            }
            float *out = to + t * wide + c;
#pragma GCC unroll 4
            for (int y = 0; y < SIDE; y++) {
                store(out + (4 * y) * apart, d[y][0]);
                store(out + (4 * y + 1) * apart, d[y][0] + d[y][1]);
                store(out + (4 * y + 2) * apart, d[y][0] - d[y][1]);
                store(out + (4 * y + 3) * apart, -d[y][1]);
            }
        }
}

/* One line of a filter: (a, b, e) to a, (a + b + e) / 2, (a - b + e) / 2, e. */
#define LINE(to, a, b, e)                                                                                                          \
    do {                                                                                                                           \
        const vector half = 0.5f * ((a) + (e)), middle = 0.5f * (b);                                                               \
        to(0, a);                                                                                                                  \
        to(1, half + middle);                                                                                                      \
        to(2, half - middle);                                                                                                      \
        to(3, e);                                                                                                                  \
    } while (0)

/* G g G'. */
static void winograd_filter(const vector *tap, float *to, long apart) {
    vector d[SIDE][3];
#define DOWN(y, a) d[y][x] = (a)
#pragma GCC unroll 3
    for (int x = 0; x < 3; x++) LINE(DOWN, tap[x], tap[x + 3], tap[x + 6]);
#undef DOWN
#define ACROSS(x, a) store(to + (4 * y + (x)) * apart, a)
#pragma GCC unroll 4
    for (int y = 0; y < SIDE; y++) LINE(ACROSS, d[y][0], d[y][1], d[y][2]);
#undef ACROSS
}

/* G' u G: the transpose of `winograd_filter`. */
static void filter_transposed(const float *from, long apart, vector *taps) {
    vector d[3][SIDE];
#define BACK(to0, to1, to2, a, b, e, f)                                                                                            \
    do {                                                                                                                           \
        const vector sum = 0.5f * ((b) + (e)), difference = 0.5f * ((b) - (e));                                                    \
        to0 = (a) + sum, to1 = difference, to2 = sum + (f);                                                                        \
    } while (0)
#pragma GCC unroll 4
    for (int x = 0; x < SIDE; x++) {
        const float *at = from + x * apart;
        BACK(d[0][x], d[1][x], d[2][x], load(at), load(at + 4 * apart), load(at + 8 * apart), load(at + 12 * apart));
    }
#pragma GCC unroll 3
    for (int y = 0; y < 3; y++) BACK(taps[3 * y], taps[3 * y + 1], taps[3 * y + 2], d[y][0], d[y][1], d[y][2], d[y][3]);
#undef BACK
}

static const struct product NUMBER_BY_NUMBER[] = {
    {0, 0, 0}, {1, 1, 1}, {2, 2, 2},    {3, 3, 3},    {4, 4, 4},    {5, 5, 5},    {6, 6, 6},    {7, 7, 7},
    {8, 8, 8}, {9, 9, 9}, {10, 10, 10}, {11, 11, 11}, {12, 12, 12}, {13, 13, 13}, {14, 14, 14}, {15, 15, 15},
};

/* 3x3 at every place. Back to the inputs it is the same with filters turned around. */
static const struct algorithm WINOGRAD = {
    .input = {2, 1, 1}, .output = {2, 0, 0}, .winograd = 1, .read_input = input_transform, .read_output = output_transposed,
    .input_numbers = 16, .filter_numbers = 16, .output_numbers = 16, .turned = 1, .count = 16, .products = NUMBER_BY_NUMBER,
};
