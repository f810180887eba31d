/* What a convolution is made of, tile by tile: numbers taken from the maps, their products with numbers made of the filters, and
   results made of those. Maps have their channels last. */

/* A side of a convolution: places of the map that belong to a tile in each direction, and how many more around it are seen. */
struct side {
    long each, before, after;
};

/* Which number of a tile is multiplied with which of the filter, and to which number of the result it is added. */
struct product {
    short source, filter, result;
};

/* A row of tiles: from rows of places, `pitch` places long, to [number][tile][channel], a number `apart` from the next. */
typedef void analysis(const float *from, long pitch, long across, long wide, float *to, long apart);

/* And back: from [number][tile][channel] to `rows` rows of places, `width` places long. */
typedef void synthesis(const float *from, long apart, long across, long wide, long rows, long width, float *to);

/* `taps` are the entries of as many filters as a vector has lanes. */
typedef void filter_analysis(const vector *taps, float *to, long apart);
typedef void filter_synthesis(const float *from, long apart, vector *taps);

struct way {
    struct side source, result;
    long sources, filters, results, taps, turned, count;
    const struct product *products;
    analysis *analyse, *analyse_gradient;
    synthesis *synthesise;
    filter_analysis *analyse_filter;
    filter_synthesis *synthesise_filter;
};
