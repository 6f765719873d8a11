#include <cuda_runtime.h>
// Eight lanes a matrix, a row each: columns go round by exchanges.
__global__ void root(float4 *__restrict__ l, const float4 *__restrict__ a, int n)
{
    int t = blockIdx.x * 128 + threadIdx.x, r = t % 8;
    bool inside = t / 8 < n;
    float4 low = inside ? a[2ll * t] : make_float4(0.0f, 0.0f, 0.0f, 0.0f), high = inside ? a[2ll * t + 1] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float m[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (int c = 0; c < 8; c++) {
        float pivot = __shfl_sync(~0u, m[c], c, 8) + 4.0f, s = rsqrtf(pivot);
        m[c] = r == c ? pivot * s : m[c] * s;
#pragma unroll
        for (int k = c + 1; k < 8; k++)
            m[k] -= m[c] * __shfl_sync(~0u, m[c], k, 8);
    }
#pragma unroll
    for (int c = 0; c < 8; c++)
        m[c] = c > r ? 0.0f : m[c];
    if (inside) {
        l[2ll * t] = make_float4(m[0], m[1], m[2], m[3]);
        l[2ll * t + 1] = make_float4(m[4], m[5], m[6], m[7]);
    }
}
extern "C" void cholesky8(float *l, const float *a, int n, cudaStream_t stream)
{
    root<<<(unsigned)((8ll * n + 127) / 128), 128, 0, stream>>>((float4 *)l, (const float4 *)a, n);
}
