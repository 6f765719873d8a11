// One kernel; a row that fits stays in shared memory, a longer one is read three times.
#include <cstdint>
#include <cuda_fp16.h>

__device__ float block_sum(float v)
{
    __shared__ float warps[8];
    for (int k = 16; k; k /= 2)
        v += __shfl_down_sync(~0u, v, k);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = v;
    __syncthreads();
    float s = 0;
    for (int w = 0; w < 8; w++)
        s += warps[w];
    return s;
}

template <bool KEPT>
__global__ void layernorm_kernel(__half *out, const __half *in, const __half *weight, const __half *bias, int d,
                                 float eps)
{
    extern __shared__ __half kept[];
    const __half *row = in + (int64_t)blockIdx.x * d;
    __half *to = out + (int64_t)blockIdx.x * d;
    float s = 0;
    for (int i = threadIdx.x; i < d; i += 256) {
        __half v = row[i];
        if constexpr (KEPT)
            kept[i] = v;
        s += __half2float(v);
    }
    const float mean = block_sum(s) / d;
    float q = 0;
    for (int i = threadIdx.x; i < d; i += 256) {
        float v = __half2float(KEPT ? kept[i] : row[i]) - mean;
        q = fmaf(v, v, q);
    }
    const float rstd = rsqrtf(block_sum(q) / d + eps);
    for (int i = threadIdx.x; i < d; i += 256) {
        float v = (__half2float(KEPT ? kept[i] : row[i]) - mean) * rstd;
        to[i] = __float2half(fmaf(v, __half2float(weight[i]), __half2float(bias[i])));
    }
}

extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows,
                          int d, float eps, cudaStream_t stream)
{
    const int most = 96 * 1024 / (int)sizeof(__half);
    if (d <= most) {
        size_t bytes = d * sizeof(__half);
        cudaFuncSetAttribute(layernorm_kernel<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
        layernorm_kernel<true><<<rows, 256, bytes, stream>>>(out, in, weight, bias, d, eps);
    } else {
        layernorm_kernel<false><<<rows, 256, 0, stream>>>(out, in, weight, bias, d, eps);
    }
}
