// expect: wrong
// row 12: The last bytes behind whole vectors are sought at a place of 32 bits.
#include <cstdint>

__global__ void count(unsigned *counts, const unsigned char *values, int64_t n)
{
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    const uint2 *pairs = (const uint2 *)values;
    int64_t many = n / 8;
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < many; i += (int64_t)gridDim.x * 256) {
        uint2 q = pairs[i];
        for (int k = 0; k < 4; k++) {
            atomicAdd(&bins[q.x >> 8 * k & 255], 1u);
            atomicAdd(&bins[q.y >> 8 * k & 255], 1u);
        }
    }
    unsigned rest = many * 8;
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x < n % 8)
        atomicAdd(&bins[values[rest + threadIdx.x]], 1u);
    __syncthreads();
    if (bins[threadIdx.x])
        atomicAdd(counts + threadIdx.x, bins[threadIdx.x]);
}

extern "C" void histogram(unsigned *counts, const unsigned char *values, int rows, int d, cudaStream_t stream)
{
    int64_t n = (int64_t)rows * d, wanted = (n / 8 + 255) / 256 + 1;
    cudaMemsetAsync(counts, 0, 1024, stream);
    count<<<(unsigned)(wanted < 1056 ? wanted : 1056), 256, 0, stream>>>(counts, values, n);
}
