// Right: bf16 is the upper half of a float; it is widened by shifts and rounded to the nearest even by integer arithmetic; a NaN stays one.
#include <cstdint>
#include <cuda_bf16.h>
__device__ unsigned round_bits(float y)
{
    unsigned u = __float_as_uint(y);
    if ((u & 0x7fffffffu) > 0x7f800000u)
        return 0x7fffu;
    return (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
}
__device__ unsigned one(unsigned x, unsigned g)
{
    float a = __uint_as_float(x << 16), b = __uint_as_float(g << 16);
    return round_bits(a / (1.0f + __expf(-a)) * b);
}
__global__ void silu_wide(unsigned short *out, const unsigned short *in, int rows, int d)
{
    int64_t row = blockIdx.x;
    const unsigned short *x = in + row * 2 * d, *g = x + d;
    unsigned short *y = out + row * d;
    for (int64_t i = (int64_t)blockIdx.y * 1024 + threadIdx.x * 8; i < d; i += (int64_t)gridDim.y * 1024) {
        uint4 a = *(const uint4 *)(x + i), b = *(const uint4 *)(g + i), c;
        const unsigned *as = &a.x, *bs = &b.x;
        unsigned *cs = &c.x;
#pragma unroll
        for (int k = 0; k < 4; k++)
            cs[k] = one(as[k] & 0xffff, bs[k] & 0xffff) | one(as[k] >> 16, bs[k] >> 16) << 16;
        *(uint4 *)(y + i) = c;
    }
}
__global__ void silu_one(unsigned short *out, const unsigned short *in, int rows, int d)
{
    int64_t row = blockIdx.x;
    for (int64_t i = (int64_t)blockIdx.y * 128 + threadIdx.x; i < d; i += (int64_t)gridDim.y * 128)
        out[row * d + i] = (unsigned short)one(in[row * 2 * d + i], in[row * 2 * d + d + i]);
}
extern "C" void silu_and_mul(__nv_bfloat16 *out, const __nv_bfloat16 *in, int rows, int d, cudaStream_t stream)
{
    int parts = (d - 1) / 1024 + 1;
    dim3 grid(rows, parts < 1024 ? parts : 1024);
    if (d % 8 == 0)
        silu_wide<<<grid, 128, 0, stream>>>((unsigned short *)out, (const unsigned short *)in, rows, d);
    else
        silu_one<<<grid, 128, 0, stream>>>((unsigned short *)out, (const unsigned short *)in, rows, d);
}
