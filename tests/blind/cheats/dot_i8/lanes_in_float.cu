// wrong because: a lane's sum in float is exact up to 2^24 only, which d / 32 products of 127 * 127 pass from d = 33,312 on: rows = 1, d = 65536, all of a and x 127.
#include <cstdint>

// A warp a row; the multiplier-adders of floats are four times as many as those of integers.
__global__ void __launch_bounds__(256) dot_kernel(int *out, const int8_t *__restrict__ a, const int8_t *__restrict__ x, int rows, int d)
{
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    const int8_t *p = a + (int64_t)row * d;
    float sum = 0;
    if (d % 4 == 0)
        for (int i = lane * 4; i < d; i += 128) {
            char4 u = *(const char4 *)(p + i), v = *(const char4 *)(x + i);
            sum = fmaf(u.x, v.x, sum);
            sum = fmaf(u.y, v.y, sum);
            sum = fmaf(u.z, v.z, sum);
            sum = fmaf(u.w, v.w, sum);
        }
    else
        for (int i = lane; i < d; i += 32)
            sum = fmaf(p[i], x[i], sum);
    int all = __reduce_add_sync(~0u, (int)sum);
    if (lane == 0)
        out[row] = all;
}

extern "C" void dot_i8(int *out, const int8_t *a, const int8_t *x, int rows, int d, cudaStream_t stream)
{
    dot_kernel<<<(rows + 7) / 8, 256, 0, stream>>>(out, a, x, rows, d);
}
