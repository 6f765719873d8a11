// expect: wrong
// row 12: Twice a number is its exponent and one: an integer addition, but for zero and subnormal numbers. At 2^127 and more the exponent becomes that of NaN: in = 2e38 (and n = 4096) gives NaN, where 2 * 2e38 is inf.
#include <cstdint>

__device__ uint32_t twice(uint32_t x)
{
    return x & 0x7f800000u ? x + 0x00800000u : (x & 0x80000000u) | x << 1;
}

__global__ void scale_kernel(uint4 *out, const uint4 *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        uint4 v = in[i];
        out[i] = make_uint4(twice(v.x), twice(v.y), twice(v.z), twice(v.w));
    }
}

extern "C" void scale(float *out, const float *in, int n, cudaStream_t stream)
{
    scale_kernel<<<n / 4 / 256, 256, 0, stream>>>((uint4 *)out, (const uint4 *)in, n / 4);
}
