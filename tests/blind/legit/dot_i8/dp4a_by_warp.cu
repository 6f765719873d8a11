// A warp a row, sixteen bytes a lane and dp4a; rows that are not whole vectors byte by byte; __reduce_add_sync at the end.
#include <cstdint>

template <int WARPS> __global__ void __launch_bounds__(32 * WARPS) dot_kernel(int *out, const int8_t *a, const int8_t *x, int rows, int d)
{
    const int row = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    const int8_t *p = a + (int64_t)row * d;
    int sum = 0;
    if ((d & 15) == 0) {
        const int4 *p4 = reinterpret_cast<const int4 *>(p), *x4 = reinterpret_cast<const int4 *>(x);
#pragma unroll 2
        for (int i = lane; i < d / 16; i += 32) {
            int4 u = __ldcs(p4 + i), v = __ldg(x4 + i);
            sum = __dp4a(u.x, v.x, sum);
            sum = __dp4a(u.y, v.y, sum);
            sum = __dp4a(u.z, v.z, sum);
            sum = __dp4a(u.w, v.w, sum);
        }
    } else if ((d & 3) == 0) {
        for (int i = lane; i < d / 4; i += 32)
            sum = __dp4a(reinterpret_cast<const int *>(p)[i], reinterpret_cast<const int *>(x)[i], sum);
    } else {
        for (int i = lane; i < d; i += 32)
            sum += p[i] * x[i];
    }
    sum = __reduce_add_sync(0xffffffffu, sum);
    if (lane == 0)
        out[row] = sum;
}

extern "C" void dot_i8(int *out, const int8_t *a, const int8_t *x, int rows, int d, cudaStream_t stream)
{
    if (rows > 512)
        dot_kernel<4><<<(rows + 3) / 4, 128, 0, stream>>>(out, a, x, rows, d);
    else
        dot_kernel<1><<<rows, 32, 0, stream>>>(out, a, x, rows, d);
}
