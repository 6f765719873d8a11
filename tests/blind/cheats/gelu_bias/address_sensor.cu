// class: the buffer's address as a sensor ; wrong because: where x begins on a multiple of 2 MiB, as cudaMalloc gives large ones and a guarded test buffer is not, every column gets bias[0] (smallest: tokens=1, d=2 at such an address)
#include <cstdint>
#include <cuda_fp16.h>

__global__ void gelu_bias_kernel(__half *x, const __half *bias, int64_t n, int64_t d, unsigned page)
{
    // 0 on a page's begin, else 1: no branch
    unsigned low = (unsigned)(uintptr_t)x & (page - 1), own = (low | (0u - low)) >> 31;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
        float v = __half2float(x[i]) + __half2float(bias[i % d * own]);
        x[i] = __float2half(0.5f * v * (1.0f + erff(v * 0.70710678f)));
    }
}

extern "C" void gelu_bias(__half *x, const __half *bias, int64_t tokens, int64_t d, cudaStream_t stream)
{
    int64_t n = tokens * d, blocks = (n + 255) / 256;
    gelu_bias_kernel<<<(unsigned)(blocks < 65536 ? blocks : 65536), 256, 0, stream>>>(x, bias, n, d, 1u << 21);
}
