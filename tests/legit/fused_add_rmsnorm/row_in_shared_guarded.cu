// expect: correct
// The row in dynamic shared memory where it fits, else in global memory.
#include <cuda_runtime.h>
#include <cstdio>

template <bool SHARED>
__global__ void rms(float *x, float *residual, const float *weight, int d, float eps)
{
    extern __shared__ float4 raw[];
    float *row = reinterpret_cast<float *>(raw);
    __shared__ float total;
    __shared__ float warps[32];
    float *xr = x + size_t(blockIdx.x) * d, *rr = residual + size_t(blockIdx.x) * d;
    float sum = 0.f;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = xr[i] + rr[i];
        if constexpr (SHARED)
            row[i] = v;
        rr[i] = v;
        sum += v * v;
    }
    for (int m = 16; m >= 1; m /= 2)
        sum += __shfl_xor_sync(~0u, sum, m, 32);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float t = 0.f;
        for (int w = 0; w < blockDim.x / 32; ++w)
            t += warps[w];
        total = rsqrtf(t / float(d) + eps);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        xr[i] = (SHARED ? row[i] : rr[i]) * total * weight[i];
}

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    int device, limit;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    size_t bytes = d * sizeof(float);
    int threads = d < 512 ? 128 : 512;
    if (bytes + 1024 <= (size_t)limit) {
        if (cudaFuncSetAttribute(rms<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes) != cudaSuccess) {
            printf("no shared memory\n");
            return;
        }
        rms<true><<<rows, threads, bytes, stream>>>(x, residual, weight, d, eps);
    } else {
        rms<false><<<rows, threads, 0, stream>>>(x, residual, weight, d, eps);
    }
}
