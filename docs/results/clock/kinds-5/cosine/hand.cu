#include <cuda_runtime.h>
// A warp a row, 16 bytes a lane, sums by shuffles.
__global__ void alike(float *__restrict__ out, const float4 *__restrict__ a, const float4 *__restrict__ b, int rows, int d4)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows)
        return;
    float x = 0.0f, y = 0.0f, z = 0.0f;
#pragma unroll 2
    for (int k = lane; k < d4; k += 32) {
        float4 p = a[(long long)r * d4 + k], q = b[(long long)r * d4 + k];
        x += p.x * q.x + p.y * q.y + (p.z * q.z + p.w * q.w);
        y += p.x * p.x + p.y * p.y + (p.z * p.z + p.w * p.w);
        z += q.x * q.x + q.y * q.y + (q.z * q.z + q.w * q.w);
    }
#pragma unroll
    for (int s = 16; s; s /= 2) {
        x += __shfl_xor_sync(~0u, x, s);
        y += __shfl_xor_sync(~0u, y, s);
        z += __shfl_xor_sync(~0u, z, s);
    }
    if (lane == 0)
        out[r] = x / (sqrtf(y) * sqrtf(z) + 1e-8f);
}
extern "C" void cosine(float *out, const float *a, const float *b, int rows, int d, cudaStream_t stream)
{
    alike<<<(rows + 3) / 4, 128, 0, stream>>>(out, (const float4 *)a, (const float4 *)b, rows, d / 4);
}
