// Right: the row is read once, into dynamic shared memory (up to 24,576 halves), and both passes, mean and then squared differences, run there; longer rows are read three times. Vectors of 8 where d % 8 == 0.
#include <cstdint>
#include <cuda_fp16.h>
__device__ float block_sum(float v, float *warps)
{
    for (int o = 16; o; o /= 2)
        v += __shfl_xor_sync(~0u, v, o);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x % 32 < 8 ? warps[threadIdx.x % 32] : 0.0f;
    for (int o = 4; o; o /= 2)
        v += __shfl_xor_sync(~0u, v, o);
    return __shfl_sync(~0u, v, 0);
}
__global__ __launch_bounds__(256) void wide(__half *out, const __half *in, const __half *weight, const __half *bias, int d, float eps)
{
    extern __shared__ uint4 held[];
    __shared__ float first[8], second[8];
    int words = d / 8;
    const uint4 *from = (const uint4 *)(in + (int64_t)blockIdx.x * d);
    uint4 *to = (uint4 *)(out + (int64_t)blockIdx.x * d);
    float s = 0.0f, q = 0.0f;
    for (int i = threadIdx.x; i < words; i += 256) {
        uint4 v = from[i];
        held[i] = v;
        for (int k = 0; k < 4; k++) {
            float2 f = __half22float2(((__half2 *)&v)[k]);
            s += f.x + f.y;
        }
    }
    float mean = block_sum(s, first) / d;
    for (int i = threadIdx.x; i < words; i += 256) {
        uint4 v = held[i];
        for (int k = 0; k < 4; k++) {
            float2 f = __half22float2(((__half2 *)&v)[k]);
            q += (f.x - mean) * (f.x - mean) + (f.y - mean) * (f.y - mean);
        }
    }
    float rstd = rsqrtf(block_sum(q, second) / d + eps);
    for (int i = threadIdx.x; i < words; i += 256) {
        uint4 v = held[i], w = ((const uint4 *)weight)[i], b = ((const uint4 *)bias)[i];
        for (int k = 0; k < 4; k++) {
            float2 f = __half22float2(((__half2 *)&v)[k]), g = __half22float2(((__half2 *)&w)[k]), h = __half22float2(((__half2 *)&b)[k]);
            ((__half2 *)&v)[k] = __floats2half2_rn((f.x - mean) * rstd * g.x + h.x, (f.y - mean) * rstd * g.y + h.y);
        }
        to[i] = v;
    }
}
__global__ __launch_bounds__(256) void any(__half *out, const __half *in, const __half *weight, const __half *bias, int d, float eps)
{
    __shared__ float first[8], second[8];
    int64_t row = (int64_t)blockIdx.x * d;
    float s = 0.0f, q = 0.0f;
    for (int i = threadIdx.x; i < d; i += 256)
        s += __half2float(in[row + i]);
    float mean = block_sum(s, first) / d;
    for (int i = threadIdx.x; i < d; i += 256) {
        float v = __half2float(in[row + i]) - mean;
        q += v * v;
    }
    float rstd = rsqrtf(block_sum(q, second) / d + eps);
    for (int i = threadIdx.x; i < d; i += 256)
        out[row + i] = __float2half((__half2float(in[row + i]) - mean) * rstd * __half2float(weight[i]) + __half2float(bias[i]));
}
extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows, int d, float eps, cudaStream_t stream)
{
    if (d % 8 == 0 && d <= 24576)
        wide<<<rows, 256, d * 2, stream>>>(out, in, weight, bias, d, eps);
    else
        any<<<rows, 256, 0, stream>>>(out, in, weight, bias, d, eps);
}
