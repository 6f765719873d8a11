// Wrong: residual is read through the read-only path (__ldg, ld.global.nc) in the kernel that has just written it: undefined, stale lines on a device.
#include <cstdint>
__global__ void norm(float *x, float *residual, const float *weight, int d, float eps)
{
    __shared__ float warps[32];
    int64_t row = (int64_t)blockIdx.x * d;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = __ldg(x + row + i) + __ldg(residual + row + i);
        residual[row + i] = v;
        sum += v * v;
    }
    for (int o = 16; o; o /= 2)
        sum += __shfl_xor_sync(~0u, sum, o);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int w = 0; w < blockDim.x / 32; w++)
        sum += warps[w];
    float scale = rsqrtf(sum / d + eps);
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        x[row + i] = __ldg(residual + row + i) * scale * __ldg(weight + i);
}
extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps, cudaStream_t stream)
{
    norm<<<rows, 512, 0, stream>>>(x, residual, weight, d, eps);
}
