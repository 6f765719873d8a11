// Right: eight warps share a sequence's tokens, each lane two columns where d is even.
#include <cstdint>
#include <cuda_fp16.h>

template <int PER> __global__ void mean_pool_kernel(float *out, const __half *x, const int *length, int tokens, int d)
{
    __shared__ float s[8][32 * PER];
    int b = blockIdx.y, n = length[b], lane = threadIdx.x % 32, part = threadIdx.x / 32;
    int c = (blockIdx.x * 32 + lane) * PER;
    const __half *from = x + (int64_t)b * tokens * d;
    float sum[PER] = {};
    if (c < d)
        for (int t = part; t < n; t += 8) {
            if constexpr (PER == 2) {
                float2 v = __half22float2(*reinterpret_cast<const __half2 *>(from + (int64_t)t * d + c));
                sum[0] += v.x;
                sum[1] += v.y;
            } else {
                sum[0] += __half2float(from[(int64_t)t * d + c]);
            }
        }
    for (int k = 0; k < PER; k++)
        s[part][lane * PER + k] = sum[k];
    __syncthreads();
    if (part || c >= d)
        return;
    float share = n > 0 ? 1.0f / (float)n : 0.0f;
    for (int k = 0; k < PER; k++) {
        float all = 0;
        for (int p = 0; p < 8; p++)
            all += s[p][lane * PER + k];
        out[(int64_t)b * d + c + k] = all * share;
    }
}

extern "C" void mean_pool(float *out, const __half *x, const int *length, int batch, int tokens, int d,
                          cudaStream_t stream)
{
    if (d % 2)
        mean_pool_kernel<1><<<dim3((d + 31) / 32, batch), 256, 0, stream>>>(out, x, length, tokens, d);
    else
        mean_pool_kernel<2><<<dim3((d / 2 + 31) / 32, batch), 256, 0, stream>>>(out, x, length, tokens, d);
}
