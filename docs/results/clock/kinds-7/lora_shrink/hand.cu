#include <cuda_fp16.h>
// A block a token, four rows a warp: the token in vectors serves all four.
__global__ void shrink(float *__restrict__ out, const uint4 *__restrict__ x, const uint4 *__restrict__ a, const int *__restrict__ which, int d)
{
    long long t = blockIdx.x;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, n = d / 8;
    const uint4 *own = a + ((long long)which[t] * 16 + warp * 4) * n;
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k = lane; k < n; k += 32) {
        uint4 v = x[t * n + k];
        const __half2 *h = (const __half2 *)&v;
#pragma unroll
        for (int r = 0; r < 4; r++) {
            uint4 w = own[r * n + k];
            const __half2 *g = (const __half2 *)&w;
#pragma unroll
            for (int q = 0; q < 4; q++) {
                float2 p = __half22float2(h[q]), s = __half22float2(g[q]);
                sum[r] += p.x * s.x + p.y * s.y;
            }
        }
    }
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
        for (int o = 16; o > 0; o /= 2)
            sum[r] += __shfl_xor_sync(~0u, sum[r], o);
    if (lane < 4)
        out[t * 16 + warp * 4 + lane] = lane < 2 ? (lane ? sum[1] : sum[0]) : (lane == 3 ? sum[3] : sum[2]);
}
extern "C" void lora_shrink(float *out, const __half *x, const __half *a, const int *which, int tokens, int d, cudaStream_t stream)
{
    shrink<<<tokens, 128, 0, stream>>>(out, (const uint4 *)x, (const uint4 *)a, which, d);
}
