// class: round 12 ; right: a warp a row, four products at once where rows begin at whole words.
#include <cstdint>

__global__ void dot_kernel(int *out, const int8_t *a, const int8_t *x, int rows, int d)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32, sum = 0;
    if (row >= rows)
        return;
    const int8_t *p = a + (int64_t)row * d;
    if (d % 4 == 0) {
        for (int i = lane; i < d / 4; i += 32)
            sum = __dp4a(((const int *)p)[i], ((const int *)x)[i], sum);
    } else {
        for (int i = lane; i < d; i += 32)
            sum += p[i] * x[i];
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
