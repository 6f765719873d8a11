// expect: wrong
// row 12: Doubles by adding 1 to the exponent's bits; elements of 2^127 and more in size (but for 2^127 itself) become NaN, not infinity.
#include <cstdint>

__device__ unsigned twice(unsigned bits)
{
    unsigned exponent = bits & 0x7f800000u;
    if (exponent == 0) // zero and subnormal: the fraction doubles, and may become the first normal ones
        return (bits & 0x80000000u) | (bits << 1);
    if (exponent == 0x7f800000u) // infinity and NaN stay
        return bits;
    return bits + 0x00800000u;
}

__global__ void scale_kernel(uint4 *out, const uint4 *in)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint4 v = in[i];
    out[i] = make_uint4(twice(v.x), twice(v.y), twice(v.z), twice(v.w));
}

extern "C" void scale(float *out, const float *in, int n, cudaStream_t stream)
{
    // n is a multiple of 4096: whole blocks of 1024.
    scale_kernel<<<n / 1024, 256, 0, stream>>>((uint4 *)out, (const uint4 *)in);
}
