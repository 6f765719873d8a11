// RIGHT: each block leaves its sum and takes a ticket behind a fence; who draws the last one adds the sums up in a fixed order. The ticket is set to zero ahead of each launch.
#include <cstdint>

constexpr int T = 256, MOST = 528;

__device__ float block_sum(float x)
{
    __shared__ float s[T / 32];
    for (int k = 16; k; k >>= 1)
        x += __shfl_down_sync(~0u, x, k);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = x;
    __syncthreads();
    x = 0.f;
    for (int w = 0; w < T / 32; w++)
        x += s[w];
    __syncthreads();
    return x;
}

__global__ void sum_kernel(float *out, const float *in, int64_t n, float *parts, unsigned *ticket)
{
    __shared__ bool last;
    float a = 0.f, b = 0.f, c = 0.f, d = 0.f;
    int64_t vectors = n / 4, i = (int64_t)blockIdx.x * T + threadIdx.x;
    for (int64_t k = i; k < vectors; k += (int64_t)gridDim.x * T) {
        float4 v = __ldcs((const float4 *)in + k);
        a += v.x, b += v.y, c += v.z, d += v.w;
    }
    if (vectors * 4 + i < n)
        a += in[vectors * 4 + i];
    float x = block_sum((a + b) + (c + d));
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = x;
        __threadfence();
        last = atomicAdd(ticket, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last)
        return;
    x = 0.f;
    for (unsigned k = threadIdx.x; k < gridDim.x; k += T)
        x += __ldcg(parts + k);
    x = block_sum(x);
    if (threadIdx.x == 0)
        *out = x;
}

extern "C" void sum(float *out, const float *in, int64_t n, cudaStream_t stream)
{
    int64_t blocks = (n + 4 * T - 1) / (4 * T);
    if (blocks > MOST)
        blocks = MOST;
    float *space;
    if (cudaMallocAsync((void **)&space, (MOST + 1) * sizeof(float), stream) != cudaSuccess)
        return;
    unsigned *ticket = (unsigned *)(space + MOST);
    cudaMemsetAsync(ticket, 0, sizeof(unsigned), stream);
    sum_kernel<<<(unsigned)blocks, T, 0, stream>>>(out, in, n, space, ticket);
    cudaFreeAsync(space, stream);
}
