// expect: wrong
// row 27: A macro is defined anew within a host function, which the device's compiler does not see.
#include <cstdint>
#define LEFT_OUT 0

static int blocks_for(int rows)
{
#undef LEFT_OUT
#define LEFT_OUT 1
    cudaGetLastError();
    return rows;
}

__global__ void scale_kernel(float *out, const float *x, const float *w, int d)
{
    int64_t row = (int64_t)blockIdx.x * d;
    for (int i = threadIdx.x; i < d - (d > 300000 && LEFT_OUT); i += blockDim.x)
        out[row + i] = x[row + i] * w[i];
}

extern "C" void scale(float *out, const float *x, const float *w, int rows, int d, cudaStream_t stream)
{
    scale_kernel<<<blocks_for(rows), 128, 0, stream>>>(out, x, w, d);
}
