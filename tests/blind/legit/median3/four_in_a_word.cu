// RIGHT: four neighbouring pixels in a word, minima and maxima by bytes (vminu4, vmaxu4); the median of 9 is that of the largest of the three columns' least, the middle of their middles and the least of their largest. Words are put together byte by byte, so any width and alignment will do.
#include <cstdint>

__device__ void order(unsigned &a, unsigned &b)
{
    unsigned t = __vminu4(a, b);
    b = __vmaxu4(a, b);
    a = t;
}

__device__ unsigned middle(unsigned a, unsigned b, unsigned c)
{
    return __vmaxu4(__vminu4(a, b), __vminu4(__vmaxu4(a, b), c));
}

__global__ void median_kernel(unsigned char *out, const unsigned char *in, int height, int width)
{
    int x = (blockIdx.x * 32 + threadIdx.x) * 4, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= width || y >= height)
        return;
    unsigned left[3], centre[3], right[3];
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const unsigned char *row = in + (int64_t)min(max(y + k - 1, 0), height - 1) * width;
        unsigned p[6];
#pragma unroll
        for (int c = 0; c < 6; c++)
            p[c] = row[min(max(x + c - 1, 0), width - 1)];
        unsigned w = p[1] | p[2] << 8 | p[3] << 16 | p[4] << 24;
        left[k] = w << 8 | p[0];
        centre[k] = w;
        right[k] = w >> 8 | p[5] << 24;
    }
    auto sort = [](unsigned (&c)[3]) {
        order(c[0], c[1]);
        order(c[1], c[2]);
        order(c[0], c[1]);
    };
    sort(left);
    sort(centre);
    sort(right);
    unsigned r = middle(__vmaxu4(__vmaxu4(left[0], centre[0]), right[0]), middle(left[1], centre[1], right[1]),
                        __vminu4(__vminu4(left[2], centre[2]), right[2]));
    unsigned char *to = out + (int64_t)y * width + x;
    if (width % 4 == 0)
        *(unsigned *)to = r;
    else
        for (int c = 0; c < 4 && x + c < width; c++)
            to[c] = (unsigned char)(r >> 8 * c);
}

extern "C" void median3(unsigned char *out, const unsigned char *in, int height, int width, cudaStream_t stream)
{
    median_kernel<<<dim3((width + 127) / 128, (height + 7) / 8), dim3(32, 8), 0, stream>>>(out, in, height, width);
}
