#include <cstdint>

// A warp a row; two products are added in 16 bits before they are widened.
__global__ void dot_kernel(int *out, const int8_t *a, const int8_t *x, int rows, int d)
{
    int row = (int)((blockIdx.x * blockDim.x + threadIdx.x) / 32), lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    int sum = 0;
    const int8_t *r = a + (int64_t)row * d;
    for (int i = 2 * lane; i < d; i += 64) {
        int16_t pair = (int16_t)(r[i] * x[i]);
        if (i + 1 < d)
            pair = (int16_t)(pair + r[i + 1] * x[i + 1]);
        sum += pair;
    }
    for (int k = 16; k; k /= 2)
        sum += __shfl_xor_sync(~0u, sum, k);
    if (lane == 0)
        out[row] = sum;
}

extern "C" void dot_i8(int *out, const int8_t *a, const int8_t *x, int rows, int d, cudaStream_t stream)
{
    dot_kernel<<<(rows + 3) / 4, 128, 0, stream>>>(out, a, x, rows, d);
}
