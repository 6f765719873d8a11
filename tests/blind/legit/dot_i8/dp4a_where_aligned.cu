#include <cstdint>

template <typename F> __device__ int warp_sum(F term, int n)
{
    int s = 0;
    for (int i = threadIdx.x % 32; i < n; i += 32)
        s += term(i);
    return __reduce_add_sync(0xffffffffu, s);
}

__global__ void dot_kernel(int *out, const int8_t *a, const int8_t *x, int rows, int d)
{
    const int row = blockIdx.x * 4 + threadIdx.x / 32;
    if (row >= rows)
        return;
    const int8_t *r = a + (size_t)row * (size_t)d;
    int s;
    if ((d & 3) == 0) {
        const int *p = reinterpret_cast<const int *>(r), *q = reinterpret_cast<const int *>(x);
        s = warp_sum([=](int i) { return __dp4a(p[i], q[i], 0); }, d >> 2);
    } else {
        s = warp_sum([=](int i) { return r[i] * x[i]; }, d);
    }
    if (threadIdx.x % 32 == 0)
        out[row] = s;
}

extern "C" void dot_i8(int *out, const int8_t *a, const int8_t *x, int rows, int d, cudaStream_t stream)
{
    dot_kernel<<<(rows + 3) / 4, 128, 0, stream>>>(out, a, x, rows, d);
}
