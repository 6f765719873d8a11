// warp-aggregated: the leader of equal values adds their number, __syncwarp between turns.
#include <cstdint>

constexpr int CHUNK = 131072;

__global__ __launch_bounds__(256) void histogram_kernel(unsigned *counts, const unsigned char *__restrict__ values, int64_t n)
{
    __shared__ unsigned own[8][256];
    unsigned *mine = own[threadIdx.x / 32];
    for (int i = threadIdx.x; i < 8 * 256; i += 256)
        (&own[0][0])[i] = 0;
    __syncthreads();
    int64_t begin = (int64_t)blockIdx.x * CHUNK, end = begin + CHUNK < n ? begin + CHUNK : n;
    for (int64_t i = begin + threadIdx.x; i - threadIdx.x < end; i += 256) {
        unsigned live = __ballot_sync(0xffffffffu, i < end);
        if (i < end) {
            unsigned v = values[i], peers = __match_any_sync(live, v);
            if (threadIdx.x % 32 == __ffs(peers) - 1)
                mine[v] += __popc(peers);
        }
        __syncwarp();
    }
    __syncthreads();
    unsigned sum = 0;
    for (int w = 0; w < 8; w++)
        sum += own[w][threadIdx.x];
    if (sum)
        atomicAdd(counts + threadIdx.x, sum);
}

extern "C" void histogram(unsigned *counts, const unsigned char *values, int rows, int d, cudaStream_t stream)
{
    int64_t n = (int64_t)rows * d;
    cudaMemsetAsync(counts, 0, 256 * sizeof(unsigned), stream);
    histogram_kernel<<<(unsigned)((n + CHUNK - 1) / CHUNK), 256, 0, stream>>>(counts, values, n);
}
