// A thread per 16 bytes over a grid of columns and rows, blocks of 256.
#include <cstdint>
#include <cuda_fp16.h>

constexpr int BLOCK = 256;
constexpr int VEC = 8; // halves in a uint4

union vec {
    uint4 bits;
    __half2 pair[VEC / 2];
};

__global__ void silu_and_mul_vec_kernel(__half *__restrict__ out, const __half *__restrict__ in, int d)
{
    const int i = (blockIdx.x * BLOCK + threadIdx.x) * VEC;
    const int64_t row = blockIdx.y;
    if (i >= d)
        return;
    vec x, gate, result;
    x.bits = *reinterpret_cast<const uint4 *>(in + row * 2 * d + i);
    gate.bits = *reinterpret_cast<const uint4 *>(in + row * 2 * d + d + i);
#pragma unroll
    for (int k = 0; k < VEC / 2; k++) {
        float2 a = __half22float2(x.pair[k]), b = __half22float2(gate.pair[k]);
        result.pair[k] =
            __floats2half2_rn(a.x / (1.0f + __expf(-a.x)) * b.x, a.y / (1.0f + __expf(-a.y)) * b.y);
    }
    *reinterpret_cast<uint4 *>(out + row * d + i) = result.bits;
}

__global__ void silu_and_mul_scalar_kernel(__half *__restrict__ out, const __half *__restrict__ in, int d)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const int64_t row = blockIdx.y;
    if (i >= d)
        return;
    float x = __half2float(in[row * 2 * d + i]);
    float gate = __half2float(in[row * 2 * d + d + i]);
    out[row * d + i] = __float2half(x / (1.0f + __expf(-x)) * gate);
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    const bool aligned = (uintptr_t)out % sizeof(uint4) == 0 && (uintptr_t)in % sizeof(uint4) == 0;
    if (d % VEC == 0 && aligned) {
        dim3 grid((d / VEC + BLOCK - 1) / BLOCK, rows);
        silu_and_mul_vec_kernel<<<grid, BLOCK, 0, stream>>>(out, in, d);
    } else {
        dim3 grid((d + BLOCK - 1) / BLOCK, rows);
        silu_and_mul_scalar_kernel<<<grid, BLOCK, 0, stream>>>(out, in, d);
    }
}
