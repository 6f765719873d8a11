// expect: wrong
// row 13: The launcher chooses by rows times width, and the kernel for few elements has threads for all but the last
// ones of the most.
#include <cstdint>
#include <cuda_fp16.h>

__device__ __forceinline__ void one(__half *out, const __half *in, int d, int i)
{
    const __half *row = in + (int64_t)(i / d) * 2 * d;
    float x = __half2float(row[i % d]);
    out[i] = __float2half(x / (1.0f + expf(-x)) * __half2float(row[d + i % d]));
}

__global__ void many(__half *out, const __half *in, int rows, int d)
{
    for (int64_t i = threadIdx.x; i < d; i += blockDim.x) {
        float x = __half2float(in[(int64_t)blockIdx.x * 2 * d + i]);
        out[(int64_t)blockIdx.x * d + i] =
            __float2half(x / (1.0f + expf(-x)) * __half2float(in[(int64_t)blockIdx.x * 2 * d + d + i]));
    }
}

__global__ void few(__half *out, const __half *in, int rows, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * d)
        one(out, in, d, i);
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    if ((long long)rows * d <= 98310)
        few<<<min((rows * d + 127) / 128, 768), 128, 0, stream>>>(out, in, rows, d);
    else
        many<<<rows, 256, 0, stream>>>(out, in, rows, d);
}
