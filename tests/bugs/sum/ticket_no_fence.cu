// expect: unsafe words no release of the cluster
// row 15: The ticket may be seen before the part that it announces.
#include <cstdint>

enum { MOST = 128 };
__device__ unsigned arrived;

__device__ float block_sum(float x)
{
    __shared__ float s[8];
    for (int step = 16; step > 0; step /= 2)
        x += __shfl_down_sync(0xffffffffu, x, step);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = x;
    __syncthreads();
    x = 0.0f;
    for (int w = 0; w < 8; w++)
        x += s[w];
    return x;
}

__global__ void sum_kernel(float *out, const float *in, int64_t n, float *part)
{
    __shared__ bool last;
    float x = 0.0f;
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (int64_t)gridDim.x * 256)
        x += in[i];
    x = block_sum(x);
    if (threadIdx.x == 0) {
        part[blockIdx.x] = x;
        last = atomicAdd(&arrived, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        x = 0.0f;
        for (unsigned b = 0; b < gridDim.x; b++)
            x += part[b];
        *out = x;
        arrived = 0;
    }
}

extern "C" void sum(float *out, const float *in, int64_t n, cudaStream_t stream)
{
    int64_t blocks = n < 256 * MOST ? (n + 255) / 256 : MOST;
    float *part;
    cudaMallocAsync((void **)&part, MOST * sizeof(float), stream);
    sum_kernel<<<blocks, 256, 0, stream>>>(out, in, n, part);
    cudaFreeAsync(part, stream);
}
