/* Convolution by its definition: the numbers of a tile are the places a kernel sees. */

/* `side` times `side` places at every step of `each`. */
INLINE void copy_places(const float *from, long pitch, long across, long wide, float *to, long apart,
                        long side, long each) {
    for (long y = 0; y < side; y++)
        for (long x = 0; x < side; x++, to += apart)
            for (long t = 0; t < across; t++)
                memcpy(to + t * wide, from + (y * pitch + each * t + x) * wide, wide * sizeof(float));
}

static void one_place(const float *from, long pitch, long across, long wide, float *to, long apart) {
    copy_places(from, pitch, across, wide, to, apart, 1, 1);
}

static void four_places(const float *from, long pitch, long across, long wide, float *to, long apart) {
    copy_places(from, pitch, across, wide, to, apart, 2, 1);
}

static void nine_places(const float *from, long pitch, long across, long wide, float *to, long apart) {
    copy_places(from, pitch, across, wide, to, apart, 3, 2);
}

INLINE void place(const float *from, long apart, long across, long wide, long rows, long width, float *to, long each) {
    for (long y = 0; y < rows; y++)
        for (long x = 0; x < each; x++)
            for (long t = 0; t < across && each * t + x < width; t++)
                memcpy(to + (y * width + each * t + x) * wide, from + (each * y + x) * apart + t * wide, wide * sizeof(float));
}

static void place_one(const float *from, long apart, long across, long wide, long rows, long width, float *to) {
    place(from, apart, across, wide, rows, width, to, 1);
}

static void place_four(const float *from, long apart, long across, long wide, long rows, long width, float *to) {
    place(from, apart, across, wide, rows, width, to, 2);
}

static void one_tap(const vector *taps, float *to, long apart) { store(to, taps[0]); }

static void from_one_tap(const float *from, long apart, vector *taps) { taps[0] = load(from); }

static void nine_taps(const vector *taps, float *to, long apart) {
    for (int tap = 0; tap < 9; tap++) store(to + tap * apart, taps[tap]);
}

static void from_nine_taps(const float *from, long apart, vector *taps) {
    for (int tap = 0; tap < 9; tap++) taps[tap] = load(from + tap * apart);
}

static const struct product ONE[] = {{0, 0, 0}};

static const struct product TAP_BY_TAP[] = {{0, 0, 0}, {1, 1, 0}, {2, 2, 0}, {3, 3, 0}, {4, 4, 0}, {5, 5, 0}, {6, 6, 0}, {7, 7, 0}, {8, 8, 0}};

/* Along an axis, place 2m of the inputs was seen by tap 1 of result m alone; place 2m + 1 by tap 0 of result m + 1 and tap 2 of m. */
static const struct product BACK_TO_FOUR[] = {
    {0, 4, 0},                                  /* both even */
    {0, 5, 1}, {1, 3, 1},                       /* the column odd */
    {0, 7, 2}, {2, 1, 2},                       /* the row odd */
    {0, 8, 3}, {1, 6, 3}, {2, 2, 3}, {3, 0, 3}, /* both odd */
};

/* 1x1. */
static const struct way POINTWISE = {
    {1, 0, 0}, {1, 0, 0}, 1, 1, 1, 1, 0, 1, ONE, one_place, one_place, place_one, one_tap, from_one_tap,
};

/* 3x3 at every second place. */
static const struct way STRIDED = {
    {2, 1, 0}, {1, 0, 0}, 9, 9, 1, 9, 0, 9, TAP_BY_TAP, nine_places, one_place, place_one, nine_taps, from_nine_taps,
};

static const struct way STRIDED_BACK = {
    {1, 0, 1}, {2, 0, 0}, 4, 9, 4, 9, 0, 9, BACK_TO_FOUR, four_places, NULL, place_four, nine_taps, NULL,
};
