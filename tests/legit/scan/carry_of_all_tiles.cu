// expect: correct
// Sums of tiles to a workspace; each block adds up all in front of its own.
#include <cstdint>

__device__ uint32_t warp_scan(uint32_t x)
{
    for (int o = 1; o < 32; o *= 2) {
        uint32_t left = __shfl_up_sync(0xffffffffu, x, o);
        if ((threadIdx.x & 31) >= o)
            x += left;
    }
    return x;
}

__device__ uint32_t block_sum(uint32_t x)
{
    __shared__ uint32_t s[32];
    for (int o = 16; o; o /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, o);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = x;
    __syncthreads();
    x = s[threadIdx.x % 32];
    for (int o = 16; o; o /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, o);
    return x;
}

__global__ void tile_sums(uint32_t *sums, const uint32_t *in, int d, int tiles)
{
    int64_t row = (int64_t)blockIdx.y * d;
    uint32_t sum = 0;
    for (int k = 0; k < 4; k++) {
        int i = blockIdx.x * 4096 + k * 1024 + threadIdx.x;
        sum += i < d ? in[row + i] : 0;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        sums[(int64_t)blockIdx.y * tiles + blockIdx.x] = sum;
}

__global__ void tile_scans(uint32_t *out, const uint32_t *in, const uint32_t *sums, int d, int tiles)
{
    __shared__ uint32_t part[32];
    int64_t row = (int64_t)blockIdx.y * d;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    uint32_t carry = 0;
    for (unsigned t = threadIdx.x; t < blockIdx.x; t += 1024)
        carry += sums[(int64_t)blockIdx.y * tiles + t];
    carry = block_sum(carry);
    for (int k = 0; k < 4; k++) {
        int i = blockIdx.x * 4096 + k * 1024 + threadIdx.x;
        uint32_t x = warp_scan(i < d ? in[row + i] : 0);
        __syncthreads();
        if (lane == 31)
            part[warp] = x;
        __syncthreads();
        uint32_t before = warp_scan(part[lane]), all = __shfl_sync(0xffffffffu, before, 31);
        before = __shfl_sync(0xffffffffu, before, (warp + 31) % 32);
        if (warp)
            x += before;
        if (i < d)
            out[row + i] = carry + x;
        carry += all;
    }
}

extern "C" void scan(uint32_t *out, const uint32_t *in, int rows, int d, cudaStream_t stream)
{
    int tiles = (d + 4095) / 4096;
    uint32_t *sums = nullptr;
    cudaMallocAsync(&sums, sizeof(uint32_t) * rows * tiles, stream);
    tile_sums<<<dim3(tiles, rows), 1024, 0, stream>>>(sums, in, d, tiles);
    tile_scans<<<dim3(tiles, rows), 1024, 0, stream>>>(out, in, sums, d, tiles);
    cudaFreeAsync(sums, stream);
}
