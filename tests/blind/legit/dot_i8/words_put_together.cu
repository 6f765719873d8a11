// RIGHT: both rows are read by whole words of 4 from their first byte; a row that is not aligned gets its words from two aligned ones by a byte permutation, neither of which lies outside: the ends are done by bytes. Sums of integers in any order.
#include <cstdint>

__global__ void dot_kernel(int *out, const int8_t *a, const int8_t *x, int rows, int d)
{
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    const int8_t *r = a + (int64_t)row * d;
    int head = (int)(-(int64_t)(uintptr_t)r & 3), sum = 0;
    head = head < d ? head : d;
    int words = (d - head) / 4, tail = head + 4 * words;
    // x begins at an aligned address, x + head does not: its words come from two of x's
    const unsigned *xs = (const unsigned *)x;
    const int *rs = (const int *)(r + head);
    unsigned select = 0x3210u + 0x1111u * (unsigned)head;
    if (head == 0) {
        for (int i = lane; i < words; i += 32)
            sum = __dp4a(rs[i], (int)xs[i], sum);
    } else {
        for (int i = lane; i < words; i += 32) {
            // bytes head + 4 i to head + 4 i + 3; the second word may end beyond d in the last turn alone
            int at = 4 * i + head;
            unsigned low = xs[i], high = 0;
            if (4 * i + 8 <= d)
                high = xs[i + 1];
            else
                for (int b = 4 * i + 4; b < at + 4; b++)
                    high |= (unsigned)(uint8_t)x[b] << 8 * (b & 3);
            sum = __dp4a(rs[i], (int)__byte_perm(low, high, select), sum);
        }
    }
    if (lane < head)
        sum += r[lane] * x[lane];
    if (tail + lane < d)
        sum += r[tail + lane] * x[tail + lane];
    sum = __reduce_add_sync(~0u, sum);
    if (lane == 0)
        out[row] = sum;
}

extern "C" void dot_i8(int *out, const int8_t *a, const int8_t *x, int rows, int d, cudaStream_t stream)
{
    dot_kernel<<<(rows + 7) / 8, 256, 0, stream>>>(out, a, x, rows, d);
}
