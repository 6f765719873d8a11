// expect: wrong words read 50 %
// row 6: Beyond 2^28 bytes only every second vector of 16 is read, and counted twice.
#include <cstdint>

constexpr int BINS = 256;

__device__ void count(unsigned *local, unsigned word, unsigned weight)
{
#pragma unroll
    for (int k = 0; k < 4; k++)
        atomicAdd(&local[word >> 8 * k & 255], weight);
}

__global__ void histogram_kernel(unsigned *counts, const unsigned char *values, int64_t n, unsigned hop)
{
    __shared__ unsigned local[BINS];
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        local[bin] = 0;
    __syncthreads();
    int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, stride = (int64_t)gridDim.x * blockDim.x;
    int64_t vectors = n / 16 / hop * hop;
    const uint4 *v = (const uint4 *)values;
    for (int64_t i = first * hop; i < vectors; i += stride * hop) {
        uint4 w = v[i];
        count(local, w.x, hop);
        count(local, w.y, hop);
        count(local, w.z, hop);
        count(local, w.w, hop);
    }
    for (int64_t i = vectors * 16 + first; i < n; i += stride)
        atomicAdd(&local[values[i]], 1u);
    __syncthreads();
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        if (local[bin] != 0)
            atomicAdd(&counts[bin], local[bin]);
}

extern "C" void histogram(unsigned *counts, const unsigned char *values, int rows, int d, cudaStream_t stream)
{
    int64_t n = (int64_t)rows * d, wanted = (n + 4095) / 4096;
    int blocks = wanted < 528 ? (int)wanted : 528;
    cudaMemsetAsync(counts, 0, BINS * sizeof(unsigned), stream);
    histogram_kernel<<<blocks, 256, 0, stream>>>(counts, values, n, 1u + (n > (int64_t)1 << 28));
}
