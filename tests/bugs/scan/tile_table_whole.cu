// expect: wrong
// row 12: A table of 12,256 tiles is full after twelve million elements of a row; the tiles behind it lack their sum.
#include <cstdint>

constexpr int TILES = 12256, TILE = 1024;

__device__ uint32_t warp_scan(uint32_t x)
{
    for (int o = 1; o < 32; o *= 2) {
        uint32_t left = __shfl_up_sync(0xffffffffu, x, o);
        if ((threadIdx.x & 31) >= o)
            x += left;
    }
    return x;
}

// Two passes: the sums of the tiles into a table, then the tiles by themselves.
__global__ void __launch_bounds__(1024) scan_kernel(uint32_t *out, const uint32_t *in, int d)
{
    __shared__ uint32_t table[TILES];
    __shared__ uint32_t part[32];
    int64_t row = (int64_t)blockIdx.x * d;
    int tiles = (d + TILE - 1) / TILE, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    tiles = tiles < TILES ? tiles : TILES;
    for (int t = warp; t < tiles; t += 32) {
        uint32_t sum = 0;
        for (int i = t * TILE + lane; i < (t + 1) * TILE && i < d; i += 32)
            sum += in[row + i];
        for (int o = 16; o > 0; o /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, o);
        if (lane == 0)
            table[t] = sum;
    }
    __syncthreads();
    uint32_t carry = 0;
    for (int t = 0; t * TILE < d; t++) {
        int i = t * TILE + threadIdx.x;
        uint32_t x = warp_scan(i < d ? in[row + i] : 0);
        if (lane == 31)
            part[warp] = x;
        __syncthreads();
        if (warp == 0)
            part[lane] = warp_scan(part[lane]);
        __syncthreads();
        if (warp > 0)
            x += part[warp - 1];
        if (i < d)
            out[row + i] = carry + x;
        carry += t < tiles ? table[t] : 0;
        __syncthreads();
    }
}

extern "C" void scan(uint32_t *out, const uint32_t *in, int rows, int d, cudaStream_t stream)
{
    scan_kernel<<<rows, 1024, 0, stream>>>(out, in, d);
}
