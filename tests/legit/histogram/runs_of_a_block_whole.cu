// expect: correct
// Beyond 1.5 million bytes 512 that are all the first one's number are counted at once.
#include <cstdint>

__global__ __launch_bounds__(128) void count(unsigned *counts, const unsigned char *values, int64_t n, bool runs)
{
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = bins[threadIdx.x + 128] = 0;
    __syncthreads();
    for (int64_t at = (int64_t)blockIdx.x * 512; at < n; at += (int64_t)gridDim.x * 512) {
        int64_t i = at + threadIdx.x * 4;
        unsigned first = values[at];
        bool alike = runs && at + 512 <= n && values[i] == first && values[i + 1] == first &&
                     values[i + 2] == first && values[i + 3] == first;
        if (__syncthreads_and(alike)) {
            if (threadIdx.x == 0)
                atomicAdd(&bins[first], 512u);
            continue;
        }
        for (int k = 0; k < 4 && i + k < n; k++)
            atomicAdd(&bins[values[i + k]], 1u);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < 256; bin += 128)
        if (bins[bin])
            atomicAdd(counts + bin, bins[bin]);
}

extern "C" void histogram(unsigned *counts, const unsigned char *values, int rows, int d, cudaStream_t stream)
{
    int64_t n = (int64_t)rows * d, wanted = (n + 511) / 512;
    cudaMemsetAsync(counts, 0, 256 * sizeof(unsigned), stream);
    count<<<(unsigned)(wanted < 264 ? wanted : 264), 128, 0, stream>>>(counts, values, n, n > 1500000);
}
