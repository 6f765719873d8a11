// The overload of exp for float, as a template's binding tells; the one for double stays.
// transform: fast-math 0
// applies: line 9
// has: out[i] = __expf(x) + (float)std::exp(wide);
// has: out[i] += __expf(-x);
#include <cmath>
#include <cuda_runtime.h>

template <typename T> __global__ void work(T *out, const T *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        T x = in[i];
        double wide = x;
        out[i] = std::exp(x) + (float)std::exp(wide);
        out[i] += exp(-x);
    }
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    work<float><<<n, 128, 0, stream>>>(out, in, n);
}
