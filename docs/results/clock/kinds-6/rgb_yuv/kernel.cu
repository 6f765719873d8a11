#include <cuda_runtime.h>
// Bytes of red, green and blue side by side to planes of luma and chroma; a thread a pixel.
__global__ void convert(unsigned char *out, const unsigned char *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int r = in[3 * i], g = in[3 * i + 1], b = in[3 * i + 2];
    out[i] = (unsigned char)(((66 * r + 129 * g + 25 * b + 128) >> 8) + 16);
    out[n + i] = (unsigned char)(((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128);
    out[2 * n + i] = (unsigned char)(((112 * r - 94 * g - 18 * b + 128) >> 8) + 128);
}
extern "C" void rgb_yuv(unsigned char *out, const unsigned char *in, int n, cudaStream_t stream)
{
    convert<<<(n + 255) / 256, 256, 0, stream>>>(out, in, n);
}
