#include <cuda_runtime.h>
// Which later boxes each box overlaps by more than `most` of what both cover, as bits; a thread a word of 64 boxes.
__global__ void overlaps(unsigned long long *mask, const float *centre, const float *size, float most, int n, int words)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n * words)
        return;
    int i = at % n, word = at / n;
    unsigned long long bits = 0;
    for (int k = 0; k < 64; k++) {
        int j = 64 * word + k;
        if (j <= i || j >= n)
            continue;
        float left = fmaxf(centre[2 * i] - 0.5f * size[2 * i], centre[2 * j] - 0.5f * size[2 * j]);
        float right = fminf(centre[2 * i] + 0.5f * size[2 * i], centre[2 * j] + 0.5f * size[2 * j]);
        float top = fmaxf(centre[2 * i + 1] - 0.5f * size[2 * i + 1], centre[2 * j + 1] - 0.5f * size[2 * j + 1]);
        float bottom = fminf(centre[2 * i + 1] + 0.5f * size[2 * i + 1], centre[2 * j + 1] + 0.5f * size[2 * j + 1]);
        float both = fmaxf(right - left, 0.0f) * fmaxf(bottom - top, 0.0f);
        float either = size[2 * i] * size[2 * i + 1] + size[2 * j] * size[2 * j + 1] - both;
        if (both > most * either)
            bits |= 1ull << k;
    }
    mask[(long long)i * words + word] = bits;
}
extern "C" void nms_mask(unsigned long long *mask, const float *centre, const float *size, float most, int n,
                         cudaStream_t stream)
{
    int words = (n + 63) / 64;
    overlaps<<<(n * words + 255) / 256, 256, 0, stream>>>(mask, centre, size, most, n, words);
}
