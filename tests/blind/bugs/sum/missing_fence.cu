// class: missing fence ; wrong because: partial sums are stored, then the ticket is drawn with no __threadfence between: the last block may read parts that have not arrived (smallest: n = 257, two blocks)
#include <cstdint>

__global__ void sum_kernel(float *out, const float *in, int64_t n, float *part, unsigned *ticket)
{
    __shared__ float s[256];
    __shared__ bool last;
    float x = 0.0f;
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (int64_t)gridDim.x * 256)
        x += in[i];
    s[threadIdx.x] = x;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step)
            s[threadIdx.x] += s[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        part[blockIdx.x] = s[0];
        last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < 32) {
        float all = 0.0f;
        for (unsigned b = threadIdx.x; b < gridDim.x; b += 32)
            all += part[b];
        for (int k = 16; k > 0; k /= 2)
            all += __shfl_down_sync(0xffffffffu, all, k);
        if (threadIdx.x == 0)
            *out = all;
    }
}

extern "C" void sum(float *out, const float *in, int64_t n, cudaStream_t stream)
{
    int64_t blocks = (n + 255) / 256;
    if (blocks > 512)
        blocks = 512;
    float *part;
    if (cudaMallocAsync((void **)&part, 513 * sizeof(float), stream) != cudaSuccess)
        return;
    unsigned *ticket = (unsigned *)(part + 512);
    cudaMemsetAsync(ticket, 0, sizeof(unsigned), stream);
    sum_kernel<<<(unsigned)blocks, 256, 0, stream>>>(out, in, n, part, ticket);
    cudaFreeAsync(part, stream);
}
