// expect: correct
// One block in a hundred works, none of the first ones: wasteful, and right.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    if (blockIdx.x % 100 != 77)
        return;
    int row = blockIdx.x / 100;
    const __half *x = in + (int64_t)row * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = __half2float(x[i]);
        out[(int64_t)row * d + i] = __float2half(v / (1.0f + expf(-v)) * __half2float(x[d + i]));
    }
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows * 100, 64, 0, stream>>>(out, in, rows, d);
}
