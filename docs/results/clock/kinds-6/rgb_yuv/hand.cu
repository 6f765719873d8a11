#include <cuda_runtime.h>
// Four pixels a thread: three words in, one word to each plane.
__global__ void convert(unsigned *__restrict__ out, const unsigned *__restrict__ in, int words)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words)
        return;
    unsigned w[3] = {in[3 * i], in[3 * i + 1], in[3 * i + 2]}, y = 0, u = 0, v = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int c[3];
#pragma unroll
        for (int q = 0; q < 3; q++)
            c[q] = (w[(3 * k + q) / 4] >> (3 * k + q) % 4 * 8) & 255;
        y |= (unsigned)((((66 * c[0] + 129 * c[1] + 25 * c[2] + 128) >> 8) + 16) & 255) << 8 * k;
        u |= (unsigned)((((-38 * c[0] - 74 * c[1] + 112 * c[2] + 128) >> 8) + 128) & 255) << 8 * k;
        v |= (unsigned)((((112 * c[0] - 94 * c[1] - 18 * c[2] + 128) >> 8) + 128) & 255) << 8 * k;
    }
    out[i] = y;
    out[words + i] = u;
    out[2 * words + i] = v;
}
extern "C" void rgb_yuv(unsigned char *out, const unsigned char *in, int n, cudaStream_t stream)
{
    convert<<<(n / 4 + 255) / 256, 256, 0, stream>>>((unsigned *)out, (const unsigned *)in, n / 4);
}
