/* What a convolution is made of, tile by tile, with channels last: numbers taken from the inputs (input transform), their products
   with numbers made of the filters (filter transform), and outputs made of those (output transform). */

enum { TAPS = 9 };

/* A side of a convolution, inputs or outputs: places that belong to a tile in each direction, and how many more around it are seen. */
struct side {
    long places, before, after;
};

/* Which number of an input tile is multiplied with which of the filter, and to which number of the output tile it is added. */
struct product {
    short input, filter, output;
};

/* A row of tiles: from rows of places, `pitch` places long, to [number][tile][channel], a number `apart` from the next. */
typedef void tile_transform(const float *from, long pitch, long across, long wide, float *to, long apart);

/* And back: from [number][tile][channel] to `rows` rows of places, `width` places long. */
typedef void tile_inverse(const float *from, long apart, long across, long wide, long rows, long width, float *to);

/* `taps` are the TAPS entries of as many filters as a vector has lanes. */
typedef void filter_transform(const vector *taps, float *to, long apart);
typedef void filter_inverse(const float *from, long apart, vector *taps);

struct algorithm {
    struct side input, output;
    long input_numbers, filter_numbers, output_numbers;
    long turned; /* Whether the gradient of the inputs is the same with filters turned around. */
    long count;  /* Of products; those to one output number follow each other. */
    const struct product *products;
    tile_transform *transform_input;
    tile_inverse *transform_output;
    filter_transform *transform_filter;
    /* Their transposes, for the gradient of the filters. */
    tile_transform *transpose_output;
    filter_inverse *transpose_filter;
};
