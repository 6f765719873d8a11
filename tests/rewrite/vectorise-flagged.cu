// A flag says what is read, and whether something is stored besides.
// transform: vectorise 16
// applies: line 13
// has: if (added)
// has: x_v = packed_load<4>(&x[i]);
// has: if (!(added))
// has: if (kept)
// has: packed_store(&copy[i], copy_v);
// has: packed_store(&out[i], out_v);
#include <cuda_runtime.h>
__global__ void work(float *out, float *copy, const float *x, const float *y, int n, bool added, bool kept)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float value = 1.0f;
        if (added)
            value += x[i];
        else
            value = y[i];
        if (kept)
            copy[i] = value;
        if (added)
            out[i] = value + 1.0f;
        else
            out[i] = value * 2.0f;
    }
}

extern "C" void entry(float *out, float *copy, const float *x, const float *y, int n, bool added, bool kept,
                      cudaStream_t stream)
{
    work<<<(n + 255) / 256, 256, 0, stream>>>(out, copy, x, y, n, added, kept);
}
