// expect: wrong
// row 12: Sums of up to 1040 products of bytes are made in float, exact since 1040 * 127 * 127 < 2^24. But a byte may be -128: d = 1040, x = -128 everywhere but x[0] = 1, a row of -128 but a[0] = 1: 1039 * 16384 + 1 = 17,022,977 has no float; here 17,022,976. d from 1025 to 1040.
#include <cstdint>

__global__ void dot_kernel(int *out, const int8_t *a, const int8_t *x, int rows, int d, bool small)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    const int8_t *r = a + (int64_t)row * d;
    if (small) {
        float sum = 0.0f;
        for (int i = lane; i < d; i += 32)
            sum += (float)r[i] * (float)x[i];
        for (int s = 16; s; s /= 2)
            sum += __shfl_xor_sync(~0u, sum, s);
        if (lane == 0)
            out[row] = (int)sum;
    } else {
        int sum = 0;
        for (int i = lane; i < d; i += 32)
            sum += r[i] * x[i];
        sum = __reduce_add_sync(~0u, sum);
        if (lane == 0)
            out[row] = sum;
    }
}

extern "C" void dot_i8(int *out, const int8_t *a, const int8_t *x, int rows, int d, cudaStream_t stream)
{
    constexpr int exact = (1 << 24) / (127 * 127); // products that a float's 24 digits hold
    dot_kernel<<<(rows + 3) / 4, 128, 0, stream>>>(out, a, x, rows, d, d <= exact);
}
