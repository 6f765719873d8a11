// expect: correct
// Two columns a thread; loops that end by what is read.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void mean_pool_pairs(float *out, const __half *x, const int *length, int tokens, int d)
{
    int b = blockIdx.y, c = (blockIdx.x * 64 + threadIdx.x) * 2, n = length[b];
    if (c >= d)
        return;
    const __half *p = x + (int64_t)b * tokens * d + c;
    float u = 0, v = 0;
#pragma unroll 4
    for (int t = 0; t < n; t++) {
        float2 w = __half22float2(*(const __half2 *)(p + (int64_t)t * d));
        u += w.x;
        v += w.y;
    }
    float *to = out + (int64_t)b * d + c;
    to[0] = n ? u / n : 0.0f;
    to[1] = n ? v / n : 0.0f;
}

__global__ void mean_pool_single(float *out, const __half *x, const int *length, int tokens, int d)
{
    int b = blockIdx.y, c = blockIdx.x * 64 + threadIdx.x, n = length[b];
    if (c >= d)
        return;
    const __half *p = x + (int64_t)b * tokens * d + c;
    float u = 0;
    for (int t = 0; t < n; t++)
        u += __half2float(p[(int64_t)t * d]);
    out[(int64_t)b * d + c] = n ? u / n : 0.0f;
}

extern "C" void mean_pool(float *out, const __half *x, const int *length, int batch, int tokens, int d,
                          cudaStream_t stream)
{
    if (d % 2 == 0)
        mean_pool_pairs<<<dim3((d + 127) / 128, batch), 64, 0, stream>>>(out, x, length, tokens, d);
    else
        mean_pool_single<<<dim3((d + 63) / 64, batch), 64, 0, stream>>>(out, x, length, tokens, d);
}
