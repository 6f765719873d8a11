// wrong because: The running largest score begins at -1e9, not -inf: rows all of whose scores lie below that (q = 30000, k = -30000 everywhere: -7.2e9) sum to zero and give NaN.
#include <cuda_fp16.h>
#include <cstdint>

__global__ void __launch_bounds__(128) attention_kernel(__half *out, const __half *q, const __half *k, const __half *v, int rows, int keys)
{
    __shared__ __half2 sk[32][33], sv[32][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = blockIdx.x * 4 + warp, own = min(row, rows - 1);
    const float2 mine = __half22float2(reinterpret_cast<const __half2 *>(q)[(int64_t)own * 32 + lane]);
    float most = -1e9f, sum = 0.0f;
    float2 o = make_float2(0.0f, 0.0f);
    for (int base = 0; base < keys; base += 32) {
        const int here = min(32, keys - base);
        __syncthreads();
        for (int i = threadIdx.x; i < here * 32; i += 128) {
            sk[i / 32][i % 32] = reinterpret_cast<const __half2 *>(k)[(int64_t)base * 32 + i];
            sv[i / 32][i % 32] = reinterpret_cast<const __half2 *>(v)[(int64_t)base * 32 + i];
        }
        __syncthreads();
        float s = 0.0f;
        const int j = min(lane, here - 1);
#pragma unroll 8
        for (int d = 0; d < 32; d++) {
            const float2 b = __half22float2(sk[j][d]);
            s += __shfl_sync(~0u, mine.x, d) * b.x;
            s += __shfl_sync(~0u, mine.y, d) * b.y;
        }
        s *= 0.125f;
        float top = lane < here ? s : -1e9f;
        for (int i = 16; i; i >>= 1)
            top = fmaxf(top, __shfl_xor_sync(~0u, top, i));
        top = fmaxf(top, most);
        const float keep = expf(most - top), p = lane < here ? expf(s - top) : 0.0f;
        most = top;
        sum = sum * keep + p;
        o.x *= keep;
        o.y *= keep;
        for (int i = 0; i < here; i++) {
            const float w = __shfl_sync(~0u, p, i);
            const float2 b = __half22float2(sv[i][lane]);
            o.x += w * b.x;
            o.y += w * b.y;
        }
    }
    for (int i = 16; i; i >>= 1)
        sum += __shfl_xor_sync(~0u, sum, i);
    if (row < rows)
        reinterpret_cast<__half2 *>(out)[(int64_t)row * 32 + lane] = __floats2half2_rn(o.x / sum, o.y / sum);
}

extern "C" void attention(__half *out, const __half *q, const __half *k, const __half *v, int rows, int keys, cudaStream_t stream)
{
    attention_kernel<<<(rows + 3) / 4, 128, 0, stream>>>(out, q, k, v, rows, keys);
}
