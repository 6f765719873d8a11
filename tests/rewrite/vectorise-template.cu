// The element type is bound by the launch.
// transform: vectorise 16
// applies: line 10
// has: packed<T, 2>
// has: work_vec2<double>
#include <cstdint>

template <typename T> __global__ void work(T *out, const T *in, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = in[i];
}

extern "C" void entry(double *out, const double *in, int n, cudaStream_t stream)
{
    work<double><<<1, 64, 0, stream>>>(out, in, n);
}
