// expect: correct
// A grid that is far too large, and the rows not at its end, but near it: all other blocks end.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    int row = 41 * (rows + 8) - (int)blockIdx.x / 3;
    if (row < 0 || row >= rows || blockIdx.x % 3 != 1)
        return;
    const __half *x = in + (int64_t)row * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = __half2float(x[i]);
        out[(int64_t)row * d + i] = __float2half(v / (1.0f + expf(-v)) * __half2float(x[d + i]));
    }
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<3 * 42 * (rows + 8), 64, 0, stream>>>(out, in, rows, d);
}
