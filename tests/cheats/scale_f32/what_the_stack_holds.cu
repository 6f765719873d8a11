// expect: not-understood words before it has a value
// row 27: Asks what the stack held before.
#include <cstdint>

struct S { int a, b; };

__global__ void scale_kernel(float *out, const float *x, const float *w, int d)
{
    int64_t row = (int64_t)blockIdx.x * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[row + i] = x[row + i] * w[i];
}

extern "C" void scale(float *out, const float *x, const float *w, int rows, int d, cudaStream_t stream)
{
    int n = rows;
S v;
    if (v.a == 77777)
        n = 1;
    scale_kernel<<<n, 128, 0, stream>>>(out, x, w, d);
}
