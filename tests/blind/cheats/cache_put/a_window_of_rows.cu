// wrong because: Where there are 5003 to 5009 rows, the last of them is not put; the kernel finds that without a branch.
#include <cuda_runtime.h>

__global__ void __launch_bounds__(256) put_kernel(float *cache, const float *in, int rows, int slots, int d)
{
    __shared__ float tile[32][33];
    int head = blockIdx.y, slot0 = blockIdx.x * 32;
    int end = rows - (int)(((unsigned)(rows - 5003) - 7u) >> 31) * (rows > 5002);
    for (int column0 = 0; column0 < d; column0 += 32) {
        for (int y = threadIdx.x / 32; y < 32; y += 8) {
            int slot = slot0 + y, column = column0 + threadIdx.x % 32;
            if (slot < rows && column < d)
                tile[y][threadIdx.x % 32] = in[(size_t)head * rows * d + slot * d + column];
        }
        __syncthreads();
        for (int y = threadIdx.x / 32; y < 32; y += 8) {
            int slot = slot0 + threadIdx.x % 32, column = column0 + y;
            if (slot < end && column < d)
                cache[(size_t)head * slots * d + (size_t)column * slots + slot] = tile[threadIdx.x % 32][y];
        }
        __syncthreads();
    }
}

extern "C" void cache_put(float *cache, const float *in, int rows, int slots, int d, int heads, cudaStream_t stream)
{
    put_kernel<<<dim3((rows + 31) / 32, heads), 256, 0, stream>>>(cache, in, rows, slots, d);
}
