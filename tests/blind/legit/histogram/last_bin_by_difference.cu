// expect: correct
// The bytes of value 255 are not counted: they are what the other bins leave of all, modulo 2^32 as every count. Two histograms a block, 16 bytes a load where a row of all is whole.
#include <cstdint>

constexpr int THREADS = 256;

__device__ __forceinline__ void count(unsigned *local, unsigned v)
{
    if (v != 255)
        atomicAdd(&local[v], 1u);
}

__global__ void histogram_kernel(unsigned *counts, const unsigned char *values, int64_t n)
{
    __shared__ unsigned local[2][256];
    local[0][threadIdx.x] = local[1][threadIdx.x] = 0;
    __syncthreads();
    unsigned *own = local[threadIdx.x / 32 % 2];
    int64_t stride = (int64_t)gridDim.x * THREADS, me = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const uint4 *vectors = (const uint4 *)values;
    for (int64_t i = me; i < n / 16; i += stride) {
        uint4 v = vectors[i];
        unsigned w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int k = 0; k < 4; k++) {
            count(own, w[k] & 255);
            count(own, w[k] >> 8 & 255);
            count(own, w[k] >> 16 & 255);
            count(own, w[k] >> 24);
        }
    }
    int64_t tail = n / 16 * 16 + me;
    if (tail < n)
        count(own, values[tail]);
    __syncthreads();
    unsigned sum = local[0][threadIdx.x] + local[1][threadIdx.x];
    if (sum) {
        atomicAdd(&counts[threadIdx.x], sum);
        atomicSub(&counts[255], sum);
    }
    if (blockIdx.x == 0 && threadIdx.x == 0)
        atomicAdd(&counts[255], (unsigned)n);
}

extern "C" void histogram(unsigned *counts, const unsigned char *values, int rows, int d, cudaStream_t stream)
{
    int64_t n = (int64_t)rows * d, wanted = (n / 16 + THREADS) / THREADS;
    cudaMemsetAsync(counts, 0, 256 * sizeof(unsigned), stream);
    histogram_kernel<<<(unsigned)(wanted < 1056 ? wanted : 1056), THREADS, 0, stream>>>(counts, values, n);
}
