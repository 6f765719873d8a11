#include <cuda_runtime.h>
// Vectors, exchanges between lanes, more threads a row.
__global__ void keep(float4 *__restrict__ out, const float4 *__restrict__ logits, int n)
{
    __shared__ float best[32];
    const float4 *row = logits + (long long)blockIdx.x * n;
    float most = row[0].x;
    for (int k = threadIdx.x; k < n; k += 1024) {
        float4 v = row[k];
        most = fmaxf(most, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    }
    for (int o = 16; o > 0; o /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, o));
    if (threadIdx.x % 32 == 0)
        best[threadIdx.x / 32] = most;
    __syncthreads();
    most = best[threadIdx.x % 32];
    for (int o = 16; o > 0; o /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, o));
    most -= 3.0f;
    for (int k = threadIdx.x; k < n; k += 1024) {
        float4 v = row[k];
        out[(long long)blockIdx.x * n + k] =
            make_float4(v.x >= most ? v.x : -1.0e30f, v.y >= most ? v.y : -1.0e30f, v.z >= most ? v.z : -1.0e30f, v.w >= most ? v.w : -1.0e30f);
    }
}
extern "C" void min_p(float *out, const float *logits, int rows, int n, cudaStream_t stream)
{
    keep<<<rows, 1024, 0, stream>>>((float4 *)out, (const float4 *)logits, n / 4);
}
