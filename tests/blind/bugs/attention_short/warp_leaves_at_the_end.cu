// wrong because: Four rows a block, a warp each; warps without a row return before the barrier that the copying of k and v needs, and their share of k and v is missing: wrong for rows % 4 != 0.
#include <cuda_fp16.h>

__global__ void __launch_bounds__(128) attention_kernel(__half *out, const __half *q, const __half *k, const __half *v, int rows, int keys)
{
    __shared__ __half2 sk[64][33], sv[64][32];
    __shared__ float p[4][64];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.x * 4 + warp;
    if (row >= rows)
        return;
    for (int i = threadIdx.x; i < keys * 32; i += 128) {
        sk[i / 32][i % 32] = reinterpret_cast<const __half2 *>(k)[i];
        sv[i / 32][i % 32] = reinterpret_cast<const __half2 *>(v)[i];
    }
    __syncthreads();
    const __half2 *own = reinterpret_cast<const __half2 *>(q + (size_t)row * 64);
    float s[2] = {-3.402823466e38f, -3.402823466e38f};
    for (int h = 0; h < 2; h++)
        if (lane + h * 32 < keys) {
            float dot = 0.0f;
            for (int d = 0; d < 32; d++) {
                float2 a = __half22float2(own[d]), b = __half22float2(sk[lane + h * 32][d]);
                dot += a.x * b.x + a.y * b.y;
            }
            s[h] = dot * 0.125f;
        }
    float most = fmaxf(s[0], s[1]);
    for (int i = 16; i; i >>= 1)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, i));
    float sum = 0.0f;
    for (int h = 0; h < 2; h++) {
        float e = lane + h * 32 < keys ? expf(s[h] - most) : 0.0f;
        p[warp][lane + h * 32] = e;
        sum += e;
    }
    for (int i = 16; i; i >>= 1)
        sum += __shfl_xor_sync(~0u, sum, i);
    __syncwarp();
    float2 o = make_float2(0.0f, 0.0f);
    for (int j = 0; j < keys; j++) {
        float2 b = __half22float2(sv[j][lane]);
        o.x += p[warp][j] * b.x;
        o.y += p[warp][j] * b.y;
    }
    reinterpret_cast<__half2 *>(out + (size_t)row * 64)[lane] = __floats2half2_rn(o.x / sum, o.y / sum);
}

extern "C" void attention(__half *out, const __half *q, const __half *k, const __half *v, int rows, int keys, cudaStream_t stream)
{
    attention_kernel<<<(rows + 3) / 4, 128, 0, stream>>>(out, q, k, v, rows, keys);
}
