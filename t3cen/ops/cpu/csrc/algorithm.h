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

/* A row of tiles, from rows of places, `pitch` places long, to [number][tile][channel], a number `apart` from the next. */
typedef void read_tiles(const float *from, long pitch, long across, long wide, struct side side, float *to, long apart);

struct algorithm {
    struct side input, output;
    long winograd; /* Whether numbers are transformed (`winograd.h`), else they are places and taps (`direct.h`). */
    read_tiles *read_input, *read_output; /* Of the output, the transpose. */
    long input_numbers, filter_numbers, output_numbers;
    long turned; /* Whether the gradient of the inputs is the same with filters turned around. */
    long count;  /* Of products; those to one output number follow each other. */
    const struct product *products;
};
