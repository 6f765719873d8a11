// expect: wrong words of inputs that hold one number nearly everywhere
// row 6: A thread with more than 1000 words of its own counts every second one of the rest twice: beyond 540 million values.
#include <cstdint>

constexpr int COPIES = 8;

__global__ void count(unsigned *parts, const unsigned char *values, int64_t n)
{
    __shared__ unsigned local[COPIES * 257];
    for (int i = threadIdx.x; i < COPIES * 257; i += 256)
        local[i] = 0;
    __syncthreads();
    unsigned *mine = local + threadIdx.x / 32 * 257;
    int64_t words = n / 16, stride = (int64_t)gridDim.x * 256, i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    const uint4 *v = (const uint4 *)values;
    unsigned turn = 0;
    while (i < words) {
        unsigned often = 1 + (turn >= 1000u);
        uint4 w = v[i];
        unsigned part[4] = {w.x, w.y, w.z, w.w};
#pragma unroll
        for (int k = 0; k < 4; k++)
#pragma unroll
            for (int b = 0; b < 32; b += 8)
                atomicAdd(&mine[part[k] >> b & 255], often);
        i += stride * often;
        turn++;
    }
    if (blockIdx.x == 0)
        for (int64_t k = words * 16 + threadIdx.x; k < n; k += 256)
            atomicAdd(&mine[values[k]], 1u);
    __syncthreads();
    unsigned sum = 0;
    for (int c = 0; c < COPIES; c++)
        sum += local[c * 257 + threadIdx.x];
    parts[blockIdx.x * 256 + threadIdx.x] = sum;
}

__global__ void add_up(unsigned *counts, const unsigned *parts, int blocks)
{
    unsigned sum = 0;
    for (int b = 0; b < blocks; b++)
        sum += parts[b * 256 + threadIdx.x];
    counts[threadIdx.x] = sum;
}

extern "C" void histogram(unsigned *counts, const unsigned char *values, int rows, int d, cudaStream_t stream)
{
    int64_t n = (int64_t)rows * d, wanted = (n + 16 * 256 - 1) / (16 * 256);
    int blocks = wanted < 132 ? (int)wanted : 132;
    unsigned *parts;
    cudaMallocAsync(&parts, 132 * 256 * sizeof(unsigned), stream);
    count<<<blocks, 256, 0, stream>>>(parts, values, n);
    add_up<<<1, 256, 0, stream>>>(counts, parts, blocks);
    cudaFreeAsync(parts, stream);
}
