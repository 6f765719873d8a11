#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cstdint>

__global__ void gemv(__half *y, const __half *a, const __half *x, int m, int k)
{
    int row = blockIdx.x;
    __shared__ float part[256];
    float s = 0.0f;
    for (int i = threadIdx.x; i < k; i += blockDim.x)
        s += __half2float(a[(size_t)row * k + i]) * __half2float(x[i]);
    part[threadIdx.x] = s;
    __syncthreads();
    for (int o = blockDim.x / 2; o > 0; o >>= 1) {
        if (threadIdx.x < o)
            part[threadIdx.x] += part[threadIdx.x + o];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        y[row] = __float2half(part[0]);
}
extern "C" void gemv_f16(__half *y, const __half *a, const __half *x, int m, int k, cudaStream_t stream)
{
    gemv<<<m, 256, 0, stream>>>(y, a, x, m, k);
}
