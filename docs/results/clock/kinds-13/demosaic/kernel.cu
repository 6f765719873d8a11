#include <cuda_runtime.h>
// Colours of a camera's raw picture (RGGB, 14 bits): what a site does not measure is the mean of its neighbours that
// do; the picture is mirrored at its edges. A thread a pixel.
__device__ int at(const unsigned short *raw, int y, int x, int h, int w)
{
    y = y < 0 ? -y : y >= h ? 2 * h - 2 - y : y;
    x = x < 0 ? -x : x >= w ? 2 * w - 2 - x : x;
    return raw[(long long)y * w + x];
}
__global__ void develop(unsigned short *out, const unsigned short *raw, int h, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int own = at(raw, y, x, h, w);
    int beside = at(raw, y, x - 1, h, w) + at(raw, y, x + 1, h, w);
    int above = at(raw, y - 1, x, h, w) + at(raw, y + 1, x, h, w);
    int across = at(raw, y - 1, x - 1, h, w) + at(raw, y - 1, x + 1, h, w) + at(raw, y + 1, x - 1, h, w) +
                 at(raw, y + 1, x + 1, h, w);
    int red, green, blue;
    if (y % 2 == 0 && x % 2 == 0) {
        red = own;
        green = (beside + above + 2) / 4;
        blue = (across + 2) / 4;
    } else if (y % 2 == 0) {
        red = (beside + 1) / 2;
        green = own;
        blue = (above + 1) / 2;
    } else if (x % 2 == 0) {
        red = (above + 1) / 2;
        green = own;
        blue = (beside + 1) / 2;
    } else {
        red = (across + 2) / 4;
        green = (beside + above + 2) / 4;
        blue = own;
    }
    long long to = ((long long)y * w + x) * 3;
    out[to] = red;
    out[to + 1] = green;
    out[to + 2] = blue;
}
extern "C" void demosaic(unsigned short *out, const unsigned short *raw, int h, int w, cudaStream_t stream)
{
    dim3 grid((w + 15) / 16, (h + 15) / 16), block(16, 16);
    develop<<<grid, block, 0, stream>>>(out, raw, h, w);
}
