/* Convolution by its definition: the numbers of an input tile are the places a kernel sees, those of a filter its taps. */

/* An input transform that only copies: all places that a tile sees. */
static void copy_places(const float *from, long pitch, long across, long wide, struct side seen, float *to, long apart) {
    const long side = seen.before + seen.places + seen.after;
    for (long y = 0; y < side; y++)
        for (long x = 0; x < side; x++, to += apart)
            for (long t = 0; t < across; t++)
                memcpy(to + t * wide, from + (y * pitch + seen.places * t + x) * wide, wide * sizeof(float));
}

/* And an output transform. */
static void place(const float *from, long apart, long across, long wide, long rows, long width, long each, float *to) {
    for (long y = 0; y < rows; y++)
        for (long x = 0; x < each; x++)
            for (long t = 0; t < across && each * t + x < width; t++)
                memcpy(to + (y * width + each * t + x) * wide, from + (each * y + x) * apart + t * wide, wide * sizeof(float));
}

static const struct product TAP_BY_TAP[] = {{0, 0, 0}, {1, 1, 0}, {2, 2, 0}, {3, 3, 0}, {4, 4, 0}, {5, 5, 0}, {6, 6, 0}, {7, 7, 0}, {8, 8, 0}};

/* Along an axis, place 2m of the inputs was seen by tap 1 of output m alone; place 2m + 1 by tap 0 of output m + 1 and tap 2 of m. */
static const struct product BACK_TO_FOUR[] = {
    {0, 4, 0},                                  /* both even */
    {0, 5, 1}, {1, 3, 1},                       /* the column odd */
    {0, 7, 2}, {2, 1, 2},                       /* the row odd */
    {0, 8, 3}, {1, 6, 3}, {2, 2, 3}, {3, 0, 3}, /* both odd */
};

/* 3x3 at every place. Its filters are their taps, turned around for the gradient of the inputs; `pack` makes the same. */
static const struct algorithm BY_TAPS = {
    .read_input = copy_places, .read_output = copy_places, .input = {1, 1, 1}, .output = {1, 0, 0},
    .input_numbers = 9, .filter_numbers = 9, .output_numbers = 1, .turned = 1, .count = 9, .products = TAP_BY_TAP,
};

/* 3x3 at every second place. */
static const struct algorithm STRIDED = {
    .read_input = copy_places, .read_output = copy_places, .input = {2, 1, 0}, .output = {1, 0, 0},
    .input_numbers = 9, .filter_numbers = 9, .output_numbers = 1, .count = 9, .products = TAP_BY_TAP,
};

/* Its gradient of the inputs: their places are the outputs here. */
static const struct algorithm STRIDED_BACK = {
    .read_input = copy_places, .read_output = copy_places, .input = {1, 0, 1}, .output = {2, 0, 0},
    .input_numbers = 4, .filter_numbers = 9, .output_numbers = 4, .count = 9, .products = BACK_TO_FOUR,
};
