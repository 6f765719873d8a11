// WRONG: doubles by adding one to the exponent; zeros and subnormal numbers are seen to, numbers of 2^127 and more become NaN in place of infinity (in[i] = 3e38).
#include <cstdint>

__device__ unsigned twice(unsigned x)
{
    if ((x & 0x7f800000u) == 0)
        return (x & 0x80000000u) | (x << 1 & 0x7fffffffu);
    return x + 0x00800000u;
}

__global__ void scale_kernel(uint4 *out, const uint4 *in)
{
    int i = blockIdx.x * 512 + threadIdx.x;
    uint4 a = __ldcs(in + i), b = __ldcs(in + i + 256);
    __stcs(out + i, make_uint4(twice(a.x), twice(a.y), twice(a.z), twice(a.w)));
    __stcs(out + i + 256, make_uint4(twice(b.x), twice(b.y), twice(b.z), twice(b.w)));
}

extern "C" void scale(float *out, const float *in, int n, cudaStream_t stream)
{
    scale_kernel<<<n / 2048, 256, 0, stream>>>((uint4 *)out, (const uint4 *)in);
}
