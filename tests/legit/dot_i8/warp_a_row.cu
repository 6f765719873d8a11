// expect: correct
// A warp a row, its lanes' sums joined by shuffles.
#include <cstdint>

__global__ void dot_kernel(int *out, const int8_t *a, const int8_t *x, int d)
{
    const int8_t *row = a + (int64_t)blockIdx.x * d;
    int sum = 0;
    for (int i = threadIdx.x; i < d; i += 32)
        sum += row[i] * x[i];
    for (int o = 16; o > 0; o /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, o);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

extern "C" void dot_i8(int *out, const int8_t *a, const int8_t *x, int rows, int d, cudaStream_t stream)
{
    dot_kernel<<<rows, 32, 0, stream>>>(out, a, x, d);
}
