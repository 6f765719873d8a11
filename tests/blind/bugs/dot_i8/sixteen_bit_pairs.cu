// wrong because: Two products are added in 16 bits before they are widened: -128 * -128 twice is 32768, which wraps. Wrong where two neighbouring elements of both are -128 (each at even places).
#include <cstdint>

__global__ void __launch_bounds__(128) dot_kernel(int *out, const int8_t *a, const int8_t *x, int rows, int d)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    const int8_t *p = a + (int64_t)row * d;
    int sum = 0;
    for (int i = lane * 2; i + 1 < d; i += 64) {
        int16_t pair = (int16_t)(p[i] * x[i] + p[i + 1] * x[i + 1]);
        sum += pair;
    }
    if (lane == 0 && d % 2)
        sum += p[d - 1] * x[d - 1];
    sum = __reduce_add_sync(~0u, sum);
    if (lane == 0)
        out[row] = sum;
}

extern "C" void dot_i8(int *out, const int8_t *a, const int8_t *x, int rows, int d, cudaStream_t stream)
{
    dot_kernel<<<(rows + 3) / 4, 128, 0, stream>>>(out, a, x, rows, d);
}
