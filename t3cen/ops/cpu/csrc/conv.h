/* A convolution in groups over square kernels, with a border of zeros that keeps the size of maps at step 1; or one of its gradients.
   Tensors are contiguous and laid out as PyTorch's.

   With filters, `out` is the result: of the maps, or transposed, where the maps are the gradient of the results, the gradient of the
   inputs. `inputs` and `outputs` are the channels of a group in `maps` and in `out`. With a gradient of the results in the place of
   filters, `out` is the gradient of the filters: `parts(job)` of them, to be added. `height` and `width` are those of the inputs. */
struct job {
    const float *maps, *filters, *gradient;
    float *out;
    long batch, groups, inputs, outputs, height, width, kernel, step, transposed;
};
