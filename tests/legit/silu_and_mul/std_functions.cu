// expect: correct
// Functions of the standard headers.
#include <cstdint>
#include <cuda_fp16.h>
#include <algorithm>
#include <cmath>
#include <limits>
__device__ __forceinline__ float silu(float x) { return x / (1.0f + std::exp(-std::fmax(x, -std::fabs(x)))); }
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[(int64_t)blockIdx.x * d + i] = __float2half(silu(__half2float(x[i])) * __half2float(x[d + i]));
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    int threads = std::min(std::max(d, 32), 256) / 32 * 32;
    kernel<<<rows, threads, 0, stream>>>(out, in, rows, d);
}
