// Wrong: without silu the bias is added twice.
#include <cuda_bf16.h>
#include <cstdint>

template <bool SILU>
__global__ void conv(__nv_bfloat16 *out, const __nv_bfloat16 *x, const __nv_bfloat16 *weight, const __nv_bfloat16 *bias,
                     int dim, int length)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, channel = blockIdx.y;
    size_t row = ((size_t)blockIdx.z * dim + channel) * length;
    if (t >= length)
        return;
    float b = __bfloat162float(bias[channel]), acc = b;
    for (int k = 0; k < 4; k++)
        if (t + k >= 3)
            acc += __bfloat162float(weight[channel * 4 + k]) * __bfloat162float(x[row + t + k - 3]);
    out[row + t] = __float2bfloat16(SILU ? acc / (1.0f + __expf(-acc)) : acc + b);
}

extern "C" void causal_conv1d(__nv_bfloat16 *out, const __nv_bfloat16 *x, const __nv_bfloat16 *weight,
                              const __nv_bfloat16 *bias, int batch, int dim, int length, bool silu, cudaStream_t stream)
{
    dim3 grid((length + 255) / 256, dim, batch);
    (silu ? conv<true> : conv<false>)<<<grid, 256, 0, stream>>>(out, x, weight, bias, dim, length);
}
