// WRONG: the last d % 4 bytes are packed by shifts without a mask, so a negative byte fills those above it; d = 7 with a[4] = -1.
#include <cstdint>

__device__ int pack(const int8_t *p, int count)
{
    int w = 0;
    for (int b = 0; b < count; b++)
        w |= (int)p[b] << 8 * b;
    return w;
}

__global__ void dot_kernel(int *out, const int8_t *a, const int8_t *x, int rows, int d)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32, sum = 0;
    if (row >= rows)
        return;
    const int8_t *r = a + (int64_t)row * d;
    if (d % 4 == 0)
        for (int i = lane; i < d / 4; i += 32)
            sum = __dp4a(((const int *)r)[i], ((const int *)x)[i], sum);
    else {
        for (int i = lane; i < d / 4; i += 32)
            for (int b = 0; b < 4; b++)
                sum += r[4 * i + b] * x[4 * i + b];
        if (lane == 0)
            sum = __dp4a(pack(r + d / 4 * 4, d % 4), pack(x + d / 4 * 4, d % 4), sum);
    }
    sum = __reduce_add_sync(~0u, sum);
    if (lane == 0)
        out[row] = sum;
}

extern "C" void dot_i8(int *out, const int8_t *a, const int8_t *x, int rows, int d, cudaStream_t stream)
{
    dot_kernel<<<(rows + 3) / 4, 128, 0, stream>>>(out, a, x, rows, d);
}
