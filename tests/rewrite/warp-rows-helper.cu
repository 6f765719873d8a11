// A helper with a barrier and shared memory is copied too; a warp's shared memory is its own.
// transform: warp-rows 808
// applies: line 32
// has: __device__ float block_sum_rows(float v)
// has: const unsigned int lane = threadIdx.x % 32;
// has: __shared__ float part[8][32];
// has: part[threadIdx.x / 32][lane / 32] = v;
// has: __syncwarp();
// has: total = block_sum_rows(total);
// has: if (row >= n)
// has: out[row * d + i] = in[row * d + i] / total;
// has: if (d <= 256) {
// has: work_rows<<<(n + 7) / 8, 256, 0, stream>>>(out, in, n, d);
#include <cuda_runtime.h>

__device__ float block_sum(float v)
{
    __shared__ float part[32];
    for (int o = 16; o > 0; o /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, o);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x % 32 < blockDim.x / 32 ? part[threadIdx.x % 32] : 0.0f;
    for (int o = 16; o > 0; o /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, o);
    return v;
}
__global__ void work(float *out, const float *in, int n, int d)
{
    float total = 0.0f;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        total += in[blockIdx.x * d + i];
    total = block_sum(total);
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[blockIdx.x * d + i] = in[blockIdx.x * d + i] / total;
}
extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 256, 0, stream>>>(out, in, n, d);
}
