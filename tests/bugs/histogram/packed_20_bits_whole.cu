// expect: wrong
// row 12: Three counters of 20 bits in 64: a million equal bytes of one block run over into the next.
#include <cstdint>

// Three bins of 20 bits in each 64-bit counter: a third of the bank conflicts.
constexpr int WORDS = 86;

__global__ void histogram_kernel(unsigned *counts, const unsigned char *values, int64_t n)
{
    __shared__ unsigned long long local[WORDS];
    for (int w = threadIdx.x; w < WORDS; w += blockDim.x)
        local[w] = 0;
    __syncthreads();
    int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        unsigned v = values[i];
        atomicAdd(&local[v / 3], 1ull << (v % 3 * 20));
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        unsigned c = (unsigned)(local[bin / 3] >> (bin % 3 * 20)) & 0xfffffu;
        if (c != 0)
            atomicAdd(&counts[bin], c);
    }
}

extern "C" void histogram(unsigned *counts, const unsigned char *values, int rows, int d, cudaStream_t stream)
{
    int64_t n = (int64_t)rows * d;
    int64_t wanted = (n + 127) / 128;
    int blocks = wanted < 264 ? (int)wanted : 264;
    cudaMemsetAsync(counts, 0, 256 * sizeof(unsigned), stream);
    histogram_kernel<<<blocks, 128, 0, stream>>>(counts, values, n);
}
