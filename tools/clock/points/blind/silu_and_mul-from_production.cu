// silu_and_mul as a serving stack writes it: one block per row, 16-byte vectors, arithmetic in float.
#include <cstdint>
#include <cuda_fp16.h>

constexpr int VEC = 8; // halves in 16 bytes

union vec8 {
    uint4 bits;
    __half2 pair[VEC / 2];
};

__device__ __forceinline__ float silu(float x)
{
    return x / (1.0f + __expf(-x));
}

__global__ void __launch_bounds__(1024)
    silu_and_mul_vec_kernel(__half *__restrict__ out, const __half *__restrict__ in, int d)
{
    const int64_t row = blockIdx.x;
    const uint4 *x_row = reinterpret_cast<const uint4 *>(in + row * 2 * d);
    const uint4 *gate_row = reinterpret_cast<const uint4 *>(in + row * 2 * d + d);
    uint4 *out_row = reinterpret_cast<uint4 *>(out + row * d);
    for (int i = blockIdx.y * blockDim.x + threadIdx.x; i < d / VEC; i += gridDim.y * blockDim.x) {
        vec8 x, gate, result;
        x.bits = __ldg(x_row + i);
        gate.bits = __ldg(gate_row + i);
#pragma unroll
        for (int k = 0; k < VEC / 2; k++) {
            float2 a = __half22float2(x.pair[k]);
            float2 b = __half22float2(gate.pair[k]);
            result.pair[k] = __floats2half2_rn(silu(a.x) * b.x, silu(a.y) * b.y);
        }
        out_row[i] = result.bits;
    }
}

// As silu_and_mul_vec_kernel, for a grid that reaches everything in one turn, with x and y exchanged.
__global__ void __launch_bounds__(1024)
    silu_and_mul_vec_kernel_once(__half *__restrict__ out, const __half *__restrict__ in, int d)
{
    const int64_t row = blockIdx.y;
    const uint4 *x_row = reinterpret_cast<const uint4 *>(in + row * 2 * d);
    const uint4 *gate_row = reinterpret_cast<const uint4 *>(in + row * 2 * d + d);
    uint4 *out_row = reinterpret_cast<uint4 *>(out + row * d);
    const int i = blockIdx.x * 512 + threadIdx.x;
    if (i < d / VEC) {
        vec8 x, gate, result;
        x.bits = __ldg(x_row + i);
        gate.bits = __ldg(gate_row + i);
#pragma unroll
        for (int k = 0; k < VEC / 2; k++) {
            float2 a = __half22float2(x.pair[k]);
            float2 b = __half22float2(gate.pair[k]);
            result.pair[k] = __floats2half2_rn(silu(a.x) * b.x, silu(a.y) * b.y);
        }
        out_row[i] = result.bits;
    }
}

__global__ void __launch_bounds__(1024)
    silu_and_mul_scalar_kernel(__half *__restrict__ out, const __half *__restrict__ in, int d)
{
    const int64_t row = blockIdx.x;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float x = __half2float(in[row * 2 * d + i]);
        float gate = __half2float(in[row * 2 * d + d + i]);
        out[row * d + i] = __float2half(silu(x) * gate);
    }
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    // A row starts on 16 bytes when d is a multiple of the vector and the buffers themselves do.
    const bool aligned = (uintptr_t)out % 16 == 0 && (uintptr_t)in % 16 == 0;
    if (d % VEC == 0 && aligned) {
        int threads = (d / VEC + 31) / 32 * 32;
        threads = threads < 1024 ? threads : 1024;
        // Several blocks share a row, so that few rows still fill the GPU.
        const int row_blocks = (d / VEC + 511) / 512;
        dim3 grid(rows, row_blocks < 65535 ? row_blocks : 65535);
        // The grid reaches everything in one turn.
        if ((int64_t)grid.y * 512 >= d / VEC && grid.x <= 65535) {
            silu_and_mul_vec_kernel_once<<<dim3(grid.y, grid.x), 512, 0, stream>>>(out, in, d);
        } else {
            silu_and_mul_vec_kernel<<<grid, 512, 0, stream>>>(out, in, d);
        }
    } else {
        int threads = d < 1024 ? (d + 31) / 32 * 32 : 1024;
        silu_and_mul_scalar_kernel<<<rows, threads, 0, stream>>>(out, in, d);
    }
}
