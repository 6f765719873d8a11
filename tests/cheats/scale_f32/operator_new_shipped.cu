// expect: cheat words defines _Znwm
// row 27: Brings an operator new that gives nothing, for the whole program.
#include <cstdint>

void *operator new(unsigned long n)
{
    return nullptr;
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
