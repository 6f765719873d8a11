// WRONG: the column is carried along in an int (column += stride % d, less d at the end); d above 2147483647 (tokens = 1, d = 3000000000) does not fit.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void gelu_kernel(__half *x, const __half *bias, int64_t n, int d)
{
    int64_t stride = (int64_t)gridDim.x * blockDim.x, i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int column = (int)(i % d), step = (int)(stride % d);
    for (; i < n; i += stride) {
        float v = __half2float(x[i]) + __half2float(bias[column]);
        x[i] = __float2half(0.5f * v * (1.0f + erff(v * 0.70710678f)));
        column += step;
        if (column >= d || column < 0)
            column -= d;
    }
}

extern "C" void gelu_bias(__half *x, const __half *bias, int64_t tokens, int64_t d, cudaStream_t stream)
{
    int64_t n = tokens * d, blocks = (n + 255) / 256;
    gelu_kernel<<<(unsigned)(blocks < 4224 ? blocks : 4224), 256, 0, stream>>>(x, bias, n, (int)d);
}
