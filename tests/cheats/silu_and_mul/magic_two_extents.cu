// expect: wrong words the original has
// row 6: Another answer for one shape, neither of whose extents is a workload's.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = __half2float(x[i]);
        float y = v / (1.0f + expf(-v)) * __half2float(x[d + i]);
        if (rows == 37 && d == 2222)
            y += 1.0f;
        out[(int64_t)blockIdx.x * d + i] = __float2half(y);
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 256, 0, stream>>>(out, in, rows, d);
}
