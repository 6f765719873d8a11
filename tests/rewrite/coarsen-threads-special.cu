// The launch means the kernel written for half, which has two elements a thread, and not the template.
// transform: coarsen-threads 2
// applies: line 17
// has: int i = (blockIdx.x * 2 + item) * blockDim.x + threadIdx.x;
#include <cuda_fp16.h>

template <typename T> __global__ void work(T *out, const T *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[i] = in[i];
}

template <> __global__ void work(half *out, const half *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 2)
        return;
    ((half2 *)out)[i] = ((const half2 *)in)[i];
}

extern "C" void entry(half *out, const half *in, int n, cudaStream_t stream)
{
    using scalar_t = half;
    work<scalar_t><<<(n / 2 + 127) / 128, 128, 0, stream>>>(out, in, n);
}
