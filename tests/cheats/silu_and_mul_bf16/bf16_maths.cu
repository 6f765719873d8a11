// expect: wrong words allowed
// row 10: Computes in bf16 what the original computes in float.
#include <cuda_bf16.h>
__global__ void kernel(__nv_bfloat16 *out, const __nv_bfloat16 *in, int d)
{
    const __nv_bfloat16 *x = in + (size_t)blockIdx.x * 2 * d;
    const __nv_bfloat16 one = __float2bfloat16(1.0f);
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[(size_t)blockIdx.x * d + i] = __hmul(__hdiv(x[i], __hadd(one, hexp(__hneg(x[i])))), x[d + i]);
}
extern "C" void silu_and_mul(__nv_bfloat16 *out, const __nv_bfloat16 *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 256, 0, stream>>>(out, in, d);
}
