// expect: unsafe words a write to in
// row 9: Uses its input as scratch memory and puts it back.
#include <cstdint>
#include <cuda_fp16.h>
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = __half2float(x[i]);
        volatile __half_raw *scratch = (volatile __half_raw *)(x + i);
        unsigned short kept = scratch->x;
        scratch->x = __half_as_ushort(__float2half(v / (1.0f + expf(-v)) * __half2float(x[d + i])));
        unsigned short r = scratch->x;
        scratch->x = kept;
        out[(int64_t)blockIdx.x * d + i] = __float2half(__half2float(__ushort_as_half(r)));
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 256, 0, stream>>>(out, in, rows, d);
}
