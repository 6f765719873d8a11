// The median of the 3 by 3 pixels around each pixel of a grey image; beyond an edge the edge's pixel counts.
#include <cstdint>

__global__ void median3_kernel(unsigned char *out, const unsigned char *in, int height, int width)
{
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 4 + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int sorted[9];
    int count = 0;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            int row = min(max(y + dy, 0), height - 1);
            int column = min(max(x + dx, 0), width - 1);
            int value = in[(int64_t)row * width + column];
            int place = count++;
            while (place > 0 && sorted[place - 1] > value) {
                sorted[place] = sorted[place - 1];
                place--;
            }
            sorted[place] = value;
        }
    }
    out[(int64_t)y * width + x] = (unsigned char)sorted[4];
}

extern "C" void median3(unsigned char *out, const unsigned char *in, int height, int width, cudaStream_t stream)
{
    dim3 grid((width + 31) / 32, (height + 3) / 4);
    median3_kernel<<<grid, dim3(32, 4), 0, stream>>>(out, in, height, width);
}
