#include <cuda_runtime.h>
// Four cells in a word. A thread goes down a column of words and keeps the sums of three rows, so that each word is
// read once; the rule is a few operations on the bits of all four sums at once.
__device__ __forceinline__ unsigned wide(const unsigned *__restrict__ row, int left, int x, int right, unsigned &own)
{
    own = row[x];
    return own + (own << 8 | row[left] >> 24) + (own >> 8 | row[right] << 24);
}
__global__ void __launch_bounds__(128)
    generation(unsigned *__restrict__ out, const unsigned *__restrict__ in, int h, int w, int deep)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * deep, last = min(first + deep, h);
    if (x >= w)
        return;
    int left = x == 0 ? w - 1 : x - 1, right = x == w - 1 ? 0 : x + 1;
    unsigned own, below, ignored;
    unsigned above = wide(in + (long long)(first == 0 ? h - 1 : first - 1) * w, left, x, right, ignored);
    unsigned middle = wide(in + (long long)first * w, left, x, right, own);
#pragma unroll 4
    for (int y = first; y < last; y++) {
        unsigned under = wide(in + (long long)(y == h - 1 ? 0 : y + 1) * w, left, x, right, below);
        unsigned sum = above + middle + under;
        unsigned one = sum, two = sum >> 1, four = sum >> 2, eight = sum >> 3;
        unsigned three = one & two & ~four, stays = ~one & ~two & four & own;
        out[(long long)y * w + x] = (three | stays) & ~eight & 0x01010101u;
        above = middle;
        middle = under;
        own = below;
    }
}
extern "C" void life(unsigned char *out, const unsigned char *in, int h, int w, cudaStream_t stream)
{
    bool small = (long long)h * w < 4194304;
    int deep = small ? 1 : 16, wide = small ? 64 : 128;
    while ((h + deep - 1) / deep > 65535)
        deep *= 2;
    generation<<<dim3((w / 4 + wide - 1) / wide, (h + deep - 1) / deep), wide, 0, stream>>>(
        (unsigned *)out, (const unsigned *)in, h, w / 4, deep);
}
