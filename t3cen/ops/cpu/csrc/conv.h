/* A convolution in groups with 3x3 kernels and a border of one zero, or one of its gradients. Tensors are contiguous and laid out as
   PyTorch's, with G groups and B images.

   With filters, `out` is the result: of the maps, or transposed, where the maps are the gradient of the results, the gradient of the
   inputs. With a gradient of the results in the place of filters, `out` is the gradient of the filters: `parts(job)` of them, to be
   added. Whoever has them packed (`filters.h`) gives those instead of the filters. */
struct job {
    const float *maps;     /* (B, G inputs, height, width); transposed, of the size of the results. */
    const float *filters;  /* (G outputs, inputs, 3, 3); transposed, (G inputs, outputs, 3, 3). */
    const float *packed;   /* The same, as `pack` lays them out; never transposed. */
    const float *gradient; /* (B, G outputs, height / stride, width / stride). */
    float *out;
    long groups, inputs, outputs; /* Channels of a group, in `maps` and in `out`. */
    long batch, height, width;    /* Of the inputs. */
    long stride, transposed;
    long *lacking; /* Bytes that could not be had; then nothing in `out` counts. */
};

static void *room(const struct job *job, size_t bytes) {
    void *made = aligned_alloc(BYTES, (bytes + BYTES - 1) / BYTES * BYTES);
    if (!made) __atomic_store_n(job->lacking, (long)bytes, __ATOMIC_RELAXED);
    return made;
}
