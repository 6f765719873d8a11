// Wrong: a vector of 16 bytes whose first, seventh and last are equal is taken for sixteen of them.
#include <cstdint>

__global__ void histogram_kernel(unsigned *counts, const unsigned char *values, int64_t n)
{
    __shared__ unsigned local[256];
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
        local[bin] = 0;
    __syncthreads();
    int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, stride = (int64_t)gridDim.x * blockDim.x;
    const uint4 *v = (const uint4 *)values;
    for (int64_t i = first; i < n / 16; i += stride) {
        uint4 w = v[i];
        unsigned a = w.x & 255, b = w.y >> 16 & 255, c = w.w >> 24;
        if (a == b && b == c) {
            atomicAdd(&local[a], 16u);
            continue;
        }
        unsigned words[4] = {w.x, w.y, w.z, w.w};
#pragma unroll
        for (int k = 0; k < 16; k++)
            atomicAdd(&local[words[k / 4] >> 8 * (k % 4) & 255], 1u);
    }
    for (int64_t i = n / 16 * 16 + first; i < n; i += stride)
        atomicAdd(&local[values[i]], 1u);
    __syncthreads();
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
        if (local[bin])
            atomicAdd(&counts[bin], local[bin]);
}

extern "C" void histogram(unsigned *counts, const unsigned char *values, int rows, int d, cudaStream_t stream)
{
    int64_t n = (int64_t)rows * d, wanted = (n + 4095) / 4096;
    cudaMemsetAsync(counts, 0, 256 * sizeof(unsigned), stream);
    histogram_kernel<<<wanted < 528 ? (int)wanted : 528, 256, 0, stream>>>(counts, values, n);
}
