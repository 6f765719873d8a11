// expect: correct
// The gate is rounded to bf16 before it is multiplied, as two kernels in a row would do it: two roundings, both
// to nearest.
#include <cuda_bf16.h>
__device__ float wide(unsigned short b) { return __uint_as_float((unsigned)b << 16); }
__device__ unsigned short narrow(float f)
{
    unsigned u = __float_as_uint(f);
    if ((u & 0x7fffffff) > 0x7f800000)
        return 0x7fff;
    return (unsigned short)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
__global__ void kernel(unsigned short *out, const unsigned short *in, int d)
{
    const unsigned short *x = in + (size_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float v = wide(x[i]);
        out[(size_t)blockIdx.x * d + i] = narrow(wide(narrow(v / (1.0f + expf(-v)))) * wide(x[d + i]));
    }
}
extern "C" void silu_and_mul(__nv_bfloat16 *out, const __nv_bfloat16 *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 256, 0, stream>>>(reinterpret_cast<unsigned short *>(out), reinterpret_cast<const unsigned short *>(in), d);
}
