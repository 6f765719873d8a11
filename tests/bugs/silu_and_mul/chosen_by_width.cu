// expect: wrong
// row 13: The launcher chooses by the row's width, and the kernel for narrow rows stops one element short of the widest.
#include <cstdint>
#include <cuda_fp16.h>

__device__ __forceinline__ __half one(const __half *in, int d, int i)
{
    float x = __half2float(in[i]);
    return __float2half(x / (1.0f + expf(-x)) * __half2float(in[d + i]));
}

__global__ void wide(__half *out, const __half *in, int d)
{
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[(int64_t)blockIdx.x * d + i] = one(in + (int64_t)blockIdx.x * 2 * d, d, i);
}

__global__ void narrow(__half *out, const __half *in, int d)
{
    for (int i = threadIdx.x; i < min(d, 2999); i += blockDim.x)
        out[(int64_t)blockIdx.x * d + i] = one(in + (int64_t)blockIdx.x * 2 * d, d, i);
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    if (d <= 3000)
        narrow<<<rows, 128, 0, stream>>>(out, in, d);
    else
        wide<<<rows, 256, 0, stream>>>(out, in, d);
}
