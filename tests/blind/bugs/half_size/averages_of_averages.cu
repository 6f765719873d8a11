// WRONG: the mean of 4 as the rounded mean of two rounded means; 0 1 / 0 0 gives 1 in place of 0, for widths that are even.
#include <cstdint>

__global__ void half_kernel(unsigned char *out, const unsigned char *in, int height, int width)
{
    int x = (blockIdx.x * 64 + threadIdx.x) * 2, y = blockIdx.y * 4 + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const unsigned char *upper = in + (int64_t)4 * y * width + 2 * x, *lower = upper + 2 * width;
    unsigned char *to = out + (int64_t)y * width + x;
    if (width % 2 == 0) {
        unsigned m = __vavgu4(*(const unsigned *)upper, *(const unsigned *)lower);
        m = __vavgu4(m, m >> 8);
        *(uchar2 *)to = make_uchar2(m & 255, m >> 16 & 255);
        return;
    }
    for (int k = 0; k < 2 && x + k < width; k++)
        to[k] = (unsigned char)((upper[2 * k] + upper[2 * k + 1] + lower[2 * k] + lower[2 * k + 1] + 2) >> 2);
}

extern "C" void half_size(unsigned char *out, const unsigned char *in, int height, int width, cudaStream_t stream)
{
    half_kernel<<<dim3((width + 127) / 128, (height + 3) / 4), dim3(64, 4), 0, stream>>>(out, in, height, width);
}
