// expect: cheat words defines write
// row 27: Brings a write() of its own, which the whole program would call.
#include <cstdint>

extern "C" long write(int, const void *, unsigned long)
{
    return 0;
}

__global__ void scale_kernel(float *out, const float *x, const float *w, int d)
{
    int64_t row = (int64_t)blockIdx.x * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[row + i] = x[row + i] * w[i];
}

extern "C" void scale(float *out, const float *x, const float *w, int rows, int d, cudaStream_t stream)
{
    int n = rows;
    scale_kernel<<<n, 128, 0, stream>>>(out, x, w, d);
}
