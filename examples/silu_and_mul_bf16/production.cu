// silu_and_mul as a serving stack writes it: one block per row, 16-byte vectors, arithmetic in float.
#include <cstdint>
#include <cuda_bf16.h>

constexpr int VEC = 8; // values in 16 bytes

union vec8 {
    uint4 bits;
    __nv_bfloat162 pair[VEC / 2];
};

__device__ __forceinline__ float silu(float x)
{
    return x / (1.0f + __expf(-x));
}

__global__ void __launch_bounds__(1024)
    silu_and_mul_vec_kernel(__nv_bfloat16 *__restrict__ out, const __nv_bfloat16 *__restrict__ in, int d)
{
    const int64_t row = blockIdx.x;
    const uint4 *x_row = reinterpret_cast<const uint4 *>(in + row * 2 * d);
    const uint4 *gate_row = reinterpret_cast<const uint4 *>(in + row * 2 * d + d);
    uint4 *out_row = reinterpret_cast<uint4 *>(out + row * d);
    for (int i = threadIdx.x; i < d / VEC; i += blockDim.x) {
        vec8 x, gate, result;
        x.bits = __ldg(x_row + i);
        gate.bits = __ldg(gate_row + i);
#pragma unroll
        for (int k = 0; k < VEC / 2; k++) {
            float2 a = __bfloat1622float2(x.pair[k]);
            float2 b = __bfloat1622float2(gate.pair[k]);
            result.pair[k] = __floats2bfloat162_rn(silu(a.x) * b.x, silu(a.y) * b.y);
        }
        out_row[i] = result.bits;
    }
}

__global__ void __launch_bounds__(1024)
    silu_and_mul_scalar_kernel(__nv_bfloat16 *__restrict__ out, const __nv_bfloat16 *__restrict__ in, int d)
{
    const int64_t row = blockIdx.x;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float x = __bfloat162float(in[row * 2 * d + i]);
        float gate = __bfloat162float(in[row * 2 * d + d + i]);
        out[row * d + i] = __float2bfloat16(silu(x) * gate);
    }
}

extern "C" void silu_and_mul(__nv_bfloat16 *out, const __nv_bfloat16 *in, int rows, int d, cudaStream_t stream)
{
    // A row starts on 16 bytes when d is a multiple of the vector and the buffers themselves do.
    const bool aligned = (uintptr_t)out % 16 == 0 && (uintptr_t)in % 16 == 0;
    if (d % VEC == 0 && aligned) {
        int threads = (d / VEC + 31) / 32 * 32;
        threads = threads < 1024 ? threads : 1024;
        silu_and_mul_vec_kernel<<<rows, threads, 0, stream>>>(out, in, d);
    } else {
        int threads = d < 1024 ? (d + 31) / 32 * 32 : 1024;
        silu_and_mul_scalar_kernel<<<rows, threads, 0, stream>>>(out, in, d);
    }
}
