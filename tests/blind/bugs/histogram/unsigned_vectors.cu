// wrong because: The number of vectors of 16 bytes is unsigned: rows * d of 2^36 bytes (64 GiB) and more count only what is left of it.
#include <cstdint>

__global__ void __launch_bounds__(256) histogram_kernel(unsigned *counts, const unsigned char *values, int64_t n)
{
    __shared__ unsigned local[4][256];
    for (int i = threadIdx.x; i < 1024; i += 256)
        local[i >> 8][i & 255] = 0;
    __syncthreads();
    unsigned *mine = local[threadIdx.x >> 6];
    unsigned vectors = (unsigned)(n / 16), step = gridDim.x * 256;
    for (uint64_t i = blockIdx.x * 256 + threadIdx.x; i < vectors; i += step) {
        uint4 v = __ldcs(reinterpret_cast<const uint4 *>(values) + i);
        unsigned w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int j = 0; j < 4; j++) {
            atomicAdd(mine + (w[j] & 255u), 1u);
            atomicAdd(mine + (w[j] >> 8 & 255u), 1u);
            atomicAdd(mine + (w[j] >> 16 & 255u), 1u);
            atomicAdd(mine + (w[j] >> 24), 1u);
        }
    }
    if (blockIdx.x == 0 && threadIdx.x < n % 16)
        atomicAdd(mine + values[n / 16 * 16 + threadIdx.x], 1u);
    __syncthreads();
    unsigned total = local[0][threadIdx.x] + local[1][threadIdx.x] + local[2][threadIdx.x] + local[3][threadIdx.x];
    if (total)
        atomicAdd(counts + threadIdx.x, total);
}

extern "C" void histogram(unsigned *counts, const unsigned char *values, int rows, int d, cudaStream_t stream)
{
    int64_t n = (int64_t)rows * d, wanted = (n / 16 + 255) / 256;
    cudaMemsetAsync(counts, 0, 256 * sizeof(unsigned), stream);
    histogram_kernel<<<wanted < 1 ? 1 : wanted < 1056 ? (int)wanted : 1056, 256, 0, stream>>>(counts, values, n);
}
