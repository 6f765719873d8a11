// Wrong: the grid goes through unsigned char: compiled, rows beyond 255 come to rows mod 256 blocks, and the rest is not written.
#include <algorithm>
#include <cstdint>
#include <cuda_fp16.h>

__global__ void silu_and_mul_kernel(__half *out, const __half *in, int d)
{
    int64_t row = blockIdx.x;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float x = __half2float(in[row * 2 * d + i]), gate = __half2float(in[row * 2 * d + d + i]);
        out[row * d + i] = __float2half(x / (1.0f + __expf(-x)) * gate);
    }
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    int blocks = std::max<unsigned char>(rows, 1);
    silu_and_mul_kernel<<<blocks, 256, 0, stream>>>(out, in, d);
}
