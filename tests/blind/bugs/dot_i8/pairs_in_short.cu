// class: round 12 ; wrong because: two products are added in 16 bits: twice -128 * -128 overflows.
#include <cstdint>

__global__ void dot_kernel(int *out, const int8_t *a, const int8_t *x, int rows, int d)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32, sum = 0;
    if (row >= rows)
        return;
    const int8_t *p = a + (int64_t)row * d;
    for (int i = 2 * lane; i < d; i += 64) {
        short pair = (short)(p[i] * x[i]);
        if (i + 1 < d)
            pair = (short)(pair + (short)(p[i + 1] * x[i + 1]));
        sum += pair;
    }
    for (int o = 16; o; o /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, o);
    if (lane == 0)
        out[row] = sum;
}

extern "C" void dot_i8(int *out, const int8_t *a, const int8_t *x, int rows, int d, cudaStream_t stream)
{
    dot_kernel<<<(rows + 3) / 4, 128, 0, stream>>>(out, a, x, rows, d);
}
