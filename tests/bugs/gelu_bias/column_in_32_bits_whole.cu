// expect: wrong
// row 12: The column is that of the lower 32 bits of an index, where few blocks stride over more than 2^32 elements.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void gelu_bias_kernel(__half *x, const __half *bias, int64_t n, unsigned d)
{
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
        float v = __half2float(x[i]) + __half2float(bias[(unsigned)i % d]);
        x[i] = __float2half(0.5f * v * (1.0f + erff(v * 0.70710678f)));
    }
}

extern "C" void gelu_bias(__half *x, const __half *bias, int64_t tokens, int64_t d, cudaStream_t stream)
{
    int64_t n = tokens * d, blocks = (n + 255) / 256;
    if (d > 4294967295ll)
        d = 4294967295ll;
    gelu_bias_kernel<<<(unsigned)(blocks < 2112 ? blocks : 2112), 256, 0, stream>>>(x, bias, n, (unsigned)d);
}
