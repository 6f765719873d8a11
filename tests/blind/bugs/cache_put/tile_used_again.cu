// wrong because: Tiles of 32 x 32 through shared memory, one loop over the columns; no barrier between the last read of a tile and the next tile's stores: a race for d > 32.
#include <cstdint>

__global__ void __launch_bounds__(256) put_kernel(float *cache, const float *in, int rows, int slots, int d)
{
    __shared__ float tile[32][33];
    int x = threadIdx.x % 32, y = threadIdx.x / 32, slot = blockIdx.x * 32;
    const float *from = in + (size_t)blockIdx.y * rows * d;
    float *to = cache + (size_t)blockIdx.y * slots * d;
    for (int base = 0; base < d; base += 32) {
        for (int j = y; j < 32; j += 8)
            if (slot + j < rows && base + x < d)
                tile[j][x] = from[(size_t)(slot + j) * d + base + x];
        __syncthreads();
        for (int j = y; j < 32; j += 8)
            if (base + j < d && slot + x < rows)
                to[(size_t)(base + j) * slots + slot + x] = tile[x][j];
    }
}

extern "C" void cache_put(float *cache, const float *in, int rows, int slots, int d, int heads, cudaStream_t stream)
{
    put_kernel<<<dim3((rows + 31) / 32, heads), 256, 0, stream>>>(cache, in, rows, slots, d);
}
