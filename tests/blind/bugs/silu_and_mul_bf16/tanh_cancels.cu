// Wrong: the sigmoid is 0.5 + 0.5 * tanh.approx(x / 2); for negative x this cancels, and silu(-6) and below is noise.
#include <cstdint>
#include <cuda_bf16.h>
__device__ float tanh_fast(float x)
{
    float y;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__global__ void silu_kernel(__nv_bfloat16 *out, const __nv_bfloat16 *in, int rows, int d)
{
    int64_t row = blockIdx.x;
    for (int64_t i = threadIdx.x; i < d; i += blockDim.x) {
        float x = __bfloat162float(in[row * 2 * d + i]), g = __bfloat162float(in[row * 2 * d + d + i]);
        out[row * d + i] = __float2bfloat16(x * (0.5f + 0.5f * tanh_fast(0.5f * x)) * g);
    }
}
extern "C" void silu_and_mul(__nv_bfloat16 *out, const __nv_bfloat16 *in, int rows, int d, cudaStream_t stream)
{
    silu_kernel<<<rows, 512, 0, stream>>>(out, in, rows, d);
}
