// Right: four pixels in a word are sorted at once by byte-wise minima and maxima: the three columns of each window, then
// the median of (the largest least, the middle middle, the least largest). Odd widths take a pixel per thread; a pixel that
// equals all four direct neighbours is the median already, as five of nine are the same.
#include <cstdint>

__device__ void order(unsigned &a, unsigned &b)
{
    const unsigned least = __vminu4(a, b);
    b = __vmaxu4(a, b);
    a = least;
}

__device__ unsigned middle(unsigned a, unsigned b, unsigned c)
{
    return __vmaxu4(__vminu4(a, b), __vminu4(__vmaxu4(a, b), c));
}

__device__ unsigned median9(unsigned (&a)[3], unsigned (&b)[3], unsigned (&c)[3])
{
#pragma unroll
    for (int k = 0; k < 3; k++) {
        order(a[k], b[k]);
        order(b[k], c[k]);
        order(a[k], b[k]);
    }
    return middle(__vmaxu4(__vmaxu4(a[0], a[1]), a[2]), middle(b[0], b[1], b[2]), __vminu4(__vminu4(c[0], c[1]), c[2]));
}

__global__ void __launch_bounds__(128)
    median_words(unsigned *__restrict__ out, const unsigned char *__restrict__ in, int height, int width)
{
    const int words = width / 4;
    const int w = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    if (w >= words || y >= height)
        return;
    unsigned left[3], centre[3], right[3];
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const int r = min(max(y + k - 1, 0), height - 1);
        const unsigned char *row = in + (int64_t)r * width + 4 * w;
        const unsigned four = *reinterpret_cast<const unsigned *>(row);
        const unsigned before = w == 0 ? four & 255u : row[-1];
        const unsigned behind = w == words - 1 ? four >> 24 : row[4];
        left[k] = four << 8 | before;
        centre[k] = four;
        right[k] = four >> 8 | behind << 24;
    }
    out[(int64_t)y * words + w] = median9(left, centre, right);
}

__global__ void __launch_bounds__(128)
    median_pixels(unsigned char *__restrict__ out, const unsigned char *__restrict__ in, int height, int width)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    if (x >= width || y >= height)
        return;
    unsigned left[3], centre[3], right[3];
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const int r = min(max(y + k - 1, 0), height - 1);
        const unsigned char *row = in + (int64_t)r * width;
        left[k] = row[max(x - 1, 0)];
        centre[k] = row[x];
        right[k] = row[min(x + 1, width - 1)];
    }
    const unsigned own = centre[1];
    unsigned result = own;
    if (centre[0] != own || centre[2] != own || left[1] != own || right[1] != own)
        result = median9(left, centre, right);
    out[(int64_t)y * width + x] = (unsigned char)result;
}

extern "C" void median3(unsigned char *out, const unsigned char *in, int height, int width, cudaStream_t stream)
{
    if (width % 4 == 0 && (uintptr_t)in % 4 == 0 && (uintptr_t)out % 4 == 0) {
        dim3 grid((width / 4 + 31) / 32, (height + 3) / 4);
        median_words<<<grid, dim3(32, 4), 0, stream>>>((unsigned *)out, in, height, width);
    } else {
        dim3 grid((width + 31) / 32, (height + 3) / 4);
        median_pixels<<<grid, dim3(32, 4), 0, stream>>>(out, in, height, width);
    }
}
