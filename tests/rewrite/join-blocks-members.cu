// Blocks of a warp, their size and the grid's as members of dim3.
// transform: join-blocks 8
// applies: line 12
// has: const unsigned int block = blockIdx.x * 8 + threadIdx.x / 32;
// has: if (block >= rows)
// has: int x = (block * 32 + (threadIdx.x % 32)) * 8;
// has: int y = blockIdx.y;
// has: narrow_joined<<<dim3(((width / 8 + 32 - 1) / (32) + 7) / 8, grid.y, grid.z), 256, 0, stream>>>(
#include <cstdint>
#include <cuda_fp16.h>

__global__ void narrow(uint8_t *out, const uint16_t *in, int width)
{
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    int y = blockIdx.y;
    if (x >= width)
        return;
    for (int k = 0; k < 8; k++)
        out[y * width + x + k] = in[y * width + x + k] >> 8;
}

extern "C" void entry(uint8_t *out, const uint16_t *in, int height, int width, cudaStream_t stream)
{
    dim3 block, grid;
    block.x = 32;
    grid.x = (width / 8 + 32 - 1) / (32);
    grid.y = height;
    narrow<<<grid, block, 0, stream>>>(out, in, width);
}
