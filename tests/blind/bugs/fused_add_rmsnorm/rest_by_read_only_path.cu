// WRONG: what does not fit the registers (d above 4096) is read again through the read-only path (__ldg) from the residual that this launch has written: it may be the old value.
#include <cstdint>

__global__ void rmsnorm_kernel(float *x, float *residual, const float *weight, int d, float eps)
{
    __shared__ float s[16];
    float *a = x + (int64_t)blockIdx.x * d, *r = residual + (int64_t)blockIdx.x * d;
    float keep[8], sum = 0.f;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        int i = k * 512 + threadIdx.x;
        if (i < d) {
            float v = a[i] + r[i];
            r[i] = v;
            keep[k] = v;
            sum += v * v;
        }
    }
    for (int64_t i = 4096 + threadIdx.x; i < d; i += 512) {
        float v = a[i] + r[i];
        r[i] = v;
        sum += v * v;
    }
    for (int k = 16; k; k >>= 1)
        sum += __shfl_xor_sync(~0u, sum, k);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = s[threadIdx.x % 16];
    for (int k = 8; k; k >>= 1)
        sum += __shfl_xor_sync(~0u, sum, k);
    float scale = 1.0f / sqrtf(sum / d + eps);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        int i = k * 512 + threadIdx.x;
        if (i < d)
            a[i] = keep[k] * scale * weight[i];
    }
    for (int64_t i = 4096 + threadIdx.x; i < d; i += 512)
        a[i] = __ldg(r + i) * scale * weight[i];
}

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    rmsnorm_kernel<<<rows, 512, 0, stream>>>(x, residual, weight, d, eps);
}
