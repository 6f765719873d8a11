// Right: number and place are one key of 64 bits, number first in an order that unsigned comparison keeps (+0 and -0 alike),
// then the place turned round; long rows are split over blocks, joined by atomicMax, and a last kernel unpacks.
#include <cstdint>

constexpr int THREADS = 256;

__device__ unsigned long long key_of(float value, int place)
{
    unsigned bits = __float_as_uint(value);
    if ((bits << 1) == 0)
        bits = 0;
    bits = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
    return (unsigned long long)bits << 32 | ~(unsigned)place;
}

__device__ unsigned long long block_max(unsigned long long key)
{
    __shared__ unsigned long long warps[THREADS / 32];
    for (int step = 16; step > 0; step /= 2) {
        const unsigned long long other = __shfl_xor_sync(0xffffffffu, key, step);
        key = other > key ? other : key;
    }
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = key;
    __syncthreads();
    for (int w = 0; w < THREADS / 32; w++)
        key = warps[w] > key ? warps[w] : key;
    return key;
}

__device__ unsigned long long best_of_part(const float *__restrict__ row, int first, int last)
{
    unsigned long long key = 0; // less than the key of any number
    for (int i = first + threadIdx.x; i < last; i += THREADS) {
        const unsigned long long other = key_of(row[i], i);
        key = other > key ? other : key;
    }
    return block_max(key);
}

__global__ void __launch_bounds__(THREADS) argmax_row(int *__restrict__ index, const float *__restrict__ in, int d)
{
    const unsigned long long key = best_of_part(in + (int64_t)blockIdx.x * d, 0, d);
    if (threadIdx.x == 0)
        index[blockIdx.x] = (int)~(unsigned)key;
}

__global__ void __launch_bounds__(THREADS)
    argmax_part(unsigned long long *best, const float *__restrict__ in, int d)
{
    const int first = (int)((int64_t)d * blockIdx.x / gridDim.x);
    const int last = (int)((int64_t)d * (blockIdx.x + 1) / gridDim.x);
    const unsigned long long key = best_of_part(in + (int64_t)blockIdx.y * d, first, last);
    if (threadIdx.x == 0)
        atomicMax(&best[blockIdx.y], key);
}

__global__ void unpack(int *index, const unsigned long long *best, int rows)
{
    const int r = blockIdx.x * 128 + threadIdx.x;
    if (r < rows)
        index[r] = (int)~(unsigned)best[r];
}

extern "C" void argmax_rows(int *index, const float *in, int rows, int d, cudaStream_t stream)
{
    int parts = 264 / rows;
    if (parts > d / 2048)
        parts = d / 2048;
    if (parts <= 1) {
        argmax_row<<<rows, THREADS, 0, stream>>>(index, in, d);
        return;
    }
    unsigned long long *best;
    if (cudaMallocAsync((void **)&best, rows * sizeof(unsigned long long), stream) != cudaSuccess)
        return;
    cudaMemsetAsync(best, 0, rows * sizeof(unsigned long long), stream);
    argmax_part<<<dim3(parts, rows), THREADS, 0, stream>>>(best, in, d);
    unpack<<<(rows + 127) / 128, 128, 0, stream>>>(index, best, rows);
    cudaFreeAsync(best, stream);
}
