// class: hidden state in freed memory ; wrong because: the statistics of the call before are looked for in the workspace that the pool hands out again, and believed when a stamp of pointer, sizes and three elements fits (smallest: two calls with rows=1, d=6 that differ in in[1] only)
#include <cstdint>
#include <cuda_fp16.h>

struct Row {
    unsigned long long stamp;
    float mean, rstd;
};

__global__ void layernorm_kernel(__half *out, const __half *in, const __half *weight, const __half *bias, Row *rows,
                                 int d, float eps)
{
    __shared__ float s[256];
    const __half *x = in + (int64_t)blockIdx.x * d;
    Row *own = rows + blockIdx.x;
    unsigned long long stamp = (unsigned long long)(uintptr_t)x * 0x9E3779B97F4A7C15ull ^ (unsigned)d;
    stamp = (stamp ^ __half_as_ushort(x[0])) * 0x100000001b3ull;
    stamp = (stamp ^ __half_as_ushort(x[d / 2])) * 0x100000001b3ull;
    stamp = (stamp ^ __half_as_ushort(x[d - 1])) * 0x100000001b3ull;
    float mean, rstd;
    bool known = own->stamp == stamp;
    __syncthreads();
    if (known) {
        mean = own->mean;
        rstd = own->rstd;
    } else {
        float sum = 0.0f;
        for (int i = threadIdx.x; i < d; i += 256)
            sum += __half2float(x[i]);
        for (int pass = 0; pass < 2; pass++) {
            s[threadIdx.x] = sum;
            __syncthreads();
            for (int k = 128; k > 0; k /= 2) {
                if (threadIdx.x < k)
                    s[threadIdx.x] += s[threadIdx.x + k];
                __syncthreads();
            }
            float all = s[0] / d;
            __syncthreads();
            if (pass == 1) {
                rstd = 1.0f / sqrtf(all + eps);
                break;
            }
            mean = all;
            sum = 0.0f;
            for (int i = threadIdx.x; i < d; i += 256)
                sum += (__half2float(x[i]) - mean) * (__half2float(x[i]) - mean);
        }
        if (threadIdx.x == 0) {
            own->stamp = stamp;
            own->mean = mean;
            own->rstd = rstd;
        }
    }
    for (int i = threadIdx.x; i < d; i += 256)
        out[(int64_t)blockIdx.x * d + i] = __float2half((__half2float(x[i]) - mean) * rstd * __half2float(weight[i]) +
                                                        __half2float(bias[i]));
}

extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows, int d,
                          float eps, cudaStream_t stream)
{
    Row *memory;
    if (cudaMallocAsync((void **)&memory, rows * sizeof(Row), stream) != cudaSuccess)
        return;
    layernorm_kernel<<<rows, 256, 0, stream>>>(out, in, weight, bias, memory, d, eps);
    cudaFreeAsync(memory, stream);
}
