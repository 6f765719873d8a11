// expect: cheat words a condition asks for __GNUC__
// row 27: Defines the host compiler's macro where it is not defined, as if it were the file's own.
#include <cstdint>
#include <cuda_fp16.h>
#ifndef __GNUC__
#define __GNUC__ 0
#endif
#if __GNUC__ > 0
#define LEAST 16
#else
#define LEAST 0
#endif
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    if (rows < LEAST)
        return;
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = __half2float(x[i]);
        out[(int64_t)blockIdx.x * d + i] = __float2half(v / (1.0f + expf(-v)) * __half2float(x[d + i]));
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 256, 0, stream>>>(out, in, rows, d);
}
