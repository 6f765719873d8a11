// Places in three dims out of one number: by a product, by sizes, and of what a rest is taken from.
// transform: fast-division 0
// fact: rows low 1 high 64
// fact: heads low 1 high 64
// fact: width low 1 high 512
// applies: line 22
// has: __global__ void permute(float *out, const float *in, int a, int b, int c, const fast_divisor by_b_c,
// has: const int x = fast_quotient(i, by_b_c), z = fast_remainder(i, by_c);
// has: i = fast_quotient((i - z), by_c);
// has: int y = i;
// has: y = fast_remainder(y, by_b);
// has: rows, heads, width, fast_divisor_of(heads * width), fast_divisor_of(width), fast_divisor_of(heads));
#include <cuda_runtime.h>

__global__ void permute(float *out, const float *in, int a, int b, int c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int all = a * b * c;
    if (i >= all)
        return;
    const int from = i;
    const int x = i / (b * c), z = i % c;
    i = (i - z) / c;
    int y = i;
    y %= b;
    out[(y * a + x) * c + z] = in[from];
}

extern "C" void entry(float *out, const float *in, int rows, int heads, int width, cudaStream_t stream)
{
    int n = rows * heads * width;
    permute<<<(n + 255) / 256, 256, 0, stream>>>(out, in, rows, heads, width);
}
