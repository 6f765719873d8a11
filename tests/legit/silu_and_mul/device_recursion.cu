// expect: correct
// A recursive device function with a bound.
#include <cstdint>
#include <cuda_fp16.h>
__device__ __noinline__ float power(float x, int n) { return n == 0 ? 1.0f : x * power(x, n - 1); }
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
     const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = __half2float(x[i]);
        out[(int64_t)blockIdx.x * d + i] = __float2half(v / (1.0f + expf(-v)) * __half2float(x[d + i]));
    }
    if (power(1.0f, (int)threadIdx.x & 3) != 1.0f)
        out[0] = in[0];
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 128, 0, stream>>>(out, in, rows, d);
}
