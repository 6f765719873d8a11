// The function has another body for some template arguments, which a copy would miss.
// transform: warp-rows -1
// leaves
#include <cuda_runtime.h>
template <int N> __device__ float block_sum(float v);
template <> __device__ float block_sum<1>(float v)
{
    __shared__ float part[32];
    part[threadIdx.x / 32] = v;
    __syncthreads();
    return part[0];
}
__global__ void work(float *out, const float *in, int d)
{
    float total = 0.0f;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        total += in[blockIdx.x * d + i];
    total = block_sum<1>(total);
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[blockIdx.x * d + i] = in[blockIdx.x * d + i] / total;
}
extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 256, 0, stream>>>(out, in, d);
}
