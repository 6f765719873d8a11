// Right: rows that begin anywhere are read as words, put together by byte_perm; the ends byte by byte.
#include <cstdint>

__global__ void __launch_bounds__(256) dot_kernel(int *out, const int8_t *a, const int8_t *x, int rows, int d)
{
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    const int8_t *r = a + (int64_t)row * d;
    unsigned shift = (unsigned)(reinterpret_cast<uintptr_t>(r) & 3);
    const unsigned *words = reinterpret_cast<const unsigned *>(r - shift);
    int sum = 0, whole = shift ? (d - 4) / 4 : d / 4;
    if (whole < 0 || (reinterpret_cast<uintptr_t>(x) & 3))
        whole = 0;
    if (shift && row == 0)
        whole = 0;
    for (int i = lane; i < whole; i += 32) {
        unsigned low = words[i], v = low;
        if (shift)
            v = __byte_perm(low, words[i + 1], 0x3210 + 0x1111 * shift);
        sum = __dp4a((int)v, reinterpret_cast<const int *>(x)[i], sum);
    }
    for (int i = whole * 4 + lane; i < d; i += 32)
        sum += (int)r[i] * (int)x[i];
    sum = __reduce_add_sync(0xffffffffu, sum);
    if (lane == 0)
        out[row] = sum;
}

extern "C" void dot_i8(int *out, const int8_t *a, const int8_t *x, int rows, int d, cudaStream_t stream)
{
    dot_kernel<<<(rows + 7) / 8, 256, 0, stream>>>(out, a, x, rows, d);
}
