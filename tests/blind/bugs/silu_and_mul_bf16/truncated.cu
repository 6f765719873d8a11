// Wrong: the result is cut to bf16, not rounded (the upper 16 bits of the float are stored).
#include <cstdint>
#include <cuda_bf16.h>
__global__ void silu_kernel(__nv_bfloat16 *out, const __nv_bfloat16 *in, int rows, int d)
{
    int64_t row = blockIdx.x;
    for (int64_t i = threadIdx.x; i < d; i += blockDim.x) {
        float x = __bfloat162float(in[row * 2 * d + i]), g = __bfloat162float(in[row * 2 * d + d + i]);
        float y = x / (1.0f + __expf(-x)) * g;
        out[row * d + i] = __ushort_as_bfloat16((unsigned short)(__float_as_uint(y) >> 16));
    }
}
extern "C" void silu_and_mul(__nv_bfloat16 *out, const __nv_bfloat16 *in, int rows, int d, cudaStream_t stream)
{
    silu_kernel<<<rows, 512, 0, stream>>>(out, in, rows, d);
}
