// expect: cheat words runs before
// row 27: A static member of a template is initialised by a call, before main.
#include <cstdint>

template <typename T> struct Reg { static int v; };
template <typename T> int Reg<T>::v = (cudaGetLastError(), 1);
template struct Reg<int>;

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
