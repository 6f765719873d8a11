#include <cuda_runtime.h>
// Half as many threads, two pixels each; 64 Gaussians at a time in shared memory, packed.
__global__ void __launch_bounds__(128)
    splat(float *__restrict__ out, const float2 *__restrict__ mean, const float2 *__restrict__ conic,
          const float *__restrict__ skew, const float *__restrict__ opacity, const float *__restrict__ colour, int n)
{
    __shared__ float4 where[64], what[64];
    __shared__ float2 more[64];
    int t = threadIdx.x;
    long long from = (long long)blockIdx.x * n;
    float x = t % 16 + 0.5f, y = t / 16 + 0.5f, left[2] = {1.0f, 1.0f}, sum[2][3] = {};
    for (int first = 0; first < n; first += 64) {
        int some = min(64, n - first);
        __syncthreads();
        if (t < some) {
            float2 m = mean[from + first + t], c = conic[from + first + t];
            where[t] = make_float4(m.x, m.y, c.x, c.y);
            more[t] = make_float2(skew[from + first + t], opacity[from + first + t]);
        }
        for (int k = t; k < 3 * some; k += 128)
            ((float *)&what[k / 3])[k % 3] = colour[3 * (from + first) + k];
        __syncthreads();
#pragma unroll 2
        for (int k = 0; k < some; k++) {
            float4 w = where[k], c = what[k];
            float2 o = more[k];
            float dx = x - w.x, across = -0.5f * (w.z * dx * dx), cross = o.x * dx;
#pragma unroll
            for (int p = 0; p < 2; p++) {
                float dy = y + 8 * p - w.y;
                float alpha = fminf(0.99f, o.y * expf(across - 0.5f * (w.w * dy * dy) - cross * dy)),
                      by = alpha * left[p];
                sum[p][0] += c.x * by;
                sum[p][1] += c.y * by;
                sum[p][2] += c.z * by;
                left[p] -= by;
            }
        }
    }
#pragma unroll
    for (int p = 0; p < 2; p++) {
        float *to = out + 3 * (256ll * blockIdx.x + 128 * p + t);
        to[0] = sum[p][0];
        to[1] = sum[p][1];
        to[2] = sum[p][2];
    }
}
extern "C" void splat_tile(float *out, const float *mean, const float *conic, const float *skew, const float *opacity,
                           const float *colour, int tiles, int n, cudaStream_t stream)
{
    splat<<<tiles, 128, 0, stream>>>(out, (const float2 *)mean, (const float2 *)conic, skew, opacity, colour, n);
}
