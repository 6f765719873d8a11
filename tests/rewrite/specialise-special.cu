// A kernel that is written for a template's argument: its copy has none.
// transform: specialise 4096
// applies: line 16
// fact: d same 4096
// has: work_d4096<<<(rows * d + 255) / 256, 256, 0, stream>>>(out, in, rows * d);
// has: __global__ void work_d4096(__half *out, const __half *in, int count)
#include <cuda_fp16.h>

template <typename T> __global__ void work(T *out, const T *in, int count, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = in[i % d];
}

template <> __global__ void work<__half>(__half *out, const __half *in, int count, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = in[i % d] + in[i / d];
}

extern "C" void entry(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    work<__half><<<(rows * d + 255) / 256, 256, 0, stream>>>(out, in, rows * d, d);
}
