// With another type the definition would be another function than its prototype.
// transform: restrict 0
// applies: line 9
// has: work(T *__restrict__ out, T *__restrict__ in, int n)
#include <cstdint>

template <typename T> __global__ void work(T *out, T *in, int n);

template <typename T> __global__ void work(T *out, T *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

extern "C" void entry(float *out, float *in, int n, cudaStream_t stream)
{
    work<float><<<(n + 127) / 128, 128, 0, stream>>>(out, in, n);
}
