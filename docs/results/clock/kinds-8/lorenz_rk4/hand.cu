#include <cuda_runtime.h>
// A product instead of the division, starts through shared memory in their order.
__device__ static float3 slope(float3 p)
{
    return make_float3(10.0f * (p.y - p.x), p.x * (28.0f - p.z) - p.y, p.x * p.y - p.z * 2.6666667f);
}
__device__ static float3 along(float3 p, float h, float3 d)
{
    return make_float3(p.x + h * d.x, p.y + h * d.y, p.z + h * d.z);
}
__global__ void lorenz(float *__restrict__ out, const float *__restrict__ start, int n)
{
    __shared__ float own[384];
    long long first = (long long)blockIdx.x * 384;
#pragma unroll
    for (int k = threadIdx.x; k < 384; k += 128)
        own[k] = first + k < 3ll * n ? start[first + k] : 1.0f;
    __syncthreads();
    float3 p = make_float3(own[3 * threadIdx.x], own[3 * threadIdx.x + 1], own[3 * threadIdx.x + 2]);
    const float h = 0.005f;
#pragma unroll 2
    for (int k = 0; k < 8; k++) {
        float3 a = slope(p), b = slope(along(p, 0.5f * h, a)), c = slope(along(p, 0.5f * h, b)), d = slope(along(p, h, c));
        p = along(p, h / 6.0f, make_float3(a.x + 2.0f * (b.x + c.x) + d.x, a.y + 2.0f * (b.y + c.y) + d.y, a.z + 2.0f * (b.z + c.z) + d.z));
    }
    own[3 * threadIdx.x] = p.x;
    own[3 * threadIdx.x + 1] = p.y;
    own[3 * threadIdx.x + 2] = p.z;
    __syncthreads();
#pragma unroll
    for (int k = threadIdx.x; k < 384; k += 128)
        if (first + k < 3ll * n)
            out[first + k] = own[k];
}
extern "C" void lorenz_rk4(float *out, const float *start, int n, cudaStream_t stream)
{
    lorenz<<<(n + 127) / 128, 128, 0, stream>>>(out, start, n);
}
