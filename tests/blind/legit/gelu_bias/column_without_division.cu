// expect: correct
// One remainder a thread: with each stride its column moves on by the stride's own remainder, and back by d at most once. The tail of the error function by erfc, which does not cancel.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void gelu_bias_kernel(__half *x, const __half *bias, int64_t n, int64_t d)
{
    int64_t stride = (int64_t)gridDim.x * blockDim.x, i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int64_t column = i % d, move = stride % d;
    for (; i < n; i += stride) {
        float v = __half2float(x[i]) + __half2float(bias[column]);
        x[i] = __float2half(0.5f * v * erfcf(v * -0.70710678f));
        column += move;
        if (column >= d)
            column -= d;
    }
}

extern "C" void gelu_bias(__half *x, const __half *bias, int64_t tokens, int64_t d, cudaStream_t stream)
{
    int64_t n = tokens * d, blocks = (n + 255) / 256;
    gelu_bias_kernel<<<(unsigned)(blocks < 2112 ? blocks : 2112), 256, 0, stream>>>(x, bias, n, d);
}
