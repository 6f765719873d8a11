// expect: correct
// Constants from a table in __constant__ memory.
#include <cstdint>
#include <cuda_fp16.h>
__device__ const unsigned short signs[2] = {0x0000, 0x8000};
__constant__ float one = 1.0f;
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        unsigned short bits = __half_as_ushort(x[i]);
        bool negative = bits & signs[1];
        float m = __half2float(__ushort_as_half(bits & 0x7fff));
        float e = __expf(-m);
        float s = negative ? -m * e / (one + e) : m / (one + e);
        out[(int64_t)blockIdx.x * d + i] = __float2half(s * __half2float(x[d + i]));
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 128, 0, stream>>>(out, in, rows, d);
}
