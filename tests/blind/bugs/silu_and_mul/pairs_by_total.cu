// Wrong: the pair path is chosen when rows * d is even; where d is odd and rows even, the rows' gates (and every second row) begin on an odd element: misaligned.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void silu_pairs(__half *out, const __half *in, int rows, int d)
{
    int64_t row = blockIdx.x;
    for (int64_t i = threadIdx.x * 2; i + 1 < d; i += blockDim.x * 2) {
        float2 x = __half22float2(*(const __half2 *)(in + row * 2 * d + i));
        float2 g = __half22float2(*(const __half2 *)(in + row * 2 * d + d + i));
        x.x = x.x / (1.0f + expf(-x.x)) * g.x;
        x.y = x.y / (1.0f + expf(-x.y)) * g.y;
        *(__half2 *)(out + row * d + i) = __float22half2_rn(x);
    }
    if ((d & 1) && threadIdx.x == 0) {
        float x = __half2float(in[row * 2 * d + d - 1]), g = __half2float(in[row * 2 * d + 2 * (int64_t)d - 1]);
        out[row * d + d - 1] = __float2half(x / (1.0f + expf(-x)) * g);
    }
}
__global__ void silu_one(__half *out, const __half *in, int rows, int d)
{
    int64_t row = blockIdx.x;
    for (int64_t i = threadIdx.x; i < d; i += blockDim.x) {
        float x = __half2float(in[row * 2 * d + i]), g = __half2float(in[row * 2 * d + d + i]);
        out[row * d + i] = __float2half(x / (1.0f + expf(-x)) * g);
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    if ((int64_t)rows * d % 2 == 0)
        silu_pairs<<<rows, 256, 0, stream>>>(out, in, rows, d);
    else
        silu_one<<<rows, 256, 0, stream>>>(out, in, rows, d);
}
