#include <cuda_runtime.h>
// A generation of Conway's game of life on a torus, a byte a cell, a thread a cell.
__global__ void generation(unsigned char *out, const unsigned char *in, int h, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w)
        return;
    for (; y < h; y += gridDim.y * blockDim.y) {
        int around = 0;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int u = x + dx < 0 ? w - 1 : x + dx >= w ? 0 : x + dx;
                int v = y + dy < 0 ? h - 1 : y + dy >= h ? 0 : y + dy;
                if (dx != 0 || dy != 0)
                    around += in[(long long)v * w + u];
            }
        bool alive = in[(long long)y * w + x] != 0;
        out[(long long)y * w + x] = around == 3 || (alive && around == 2) ? 1 : 0;
    }
}
extern "C" void life(unsigned char *out, const unsigned char *in, int h, int w, cudaStream_t stream)
{
    int high = (h + 7) / 8;
    generation<<<dim3((w + 31) / 32, high < 65535 ? high : 65535), dim3(32, 8), 0, stream>>>(out, in, h, w);
}
