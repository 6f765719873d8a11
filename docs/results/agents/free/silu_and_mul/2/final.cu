// out[r][i] = silu(x) * gate, where a row of `in` holds d values x and then d gates.
#include <cstdint>
#include <cuda_fp16.h>

constexpr int VEC = 8; // halves in 16 bytes

union vec8 {
    uint4 bits;
    __half2 pair[VEC / 2];
};

__device__ __forceinline__ float silu(float x)
{
    return __fdividef(x, 1.0f + __expf(-x));
}

__device__ __forceinline__ uint4 apply(uint4 xs, uint4 gates)
{
    vec8 x, gate, result;
    x.bits = xs;
    gate.bits = gates;
#pragma unroll
    for (int k = 0; k < VEC / 2; k++) {
        float2 a = __half22float2(x.pair[k]);
        float2 b = __half22float2(gate.pair[k]);
        result.pair[k] = __floats2half2_rn(silu(a.x) * b.x, silu(a.y) * b.y);
    }
    return result.bits;
}

// One block: THREADS * UNROLL vectors of one row, all loads first.
template <int THREADS, int UNROLL>
__global__ void __launch_bounds__(THREADS)
    silu_and_mul_vec_kernel(__half *__restrict__ out, const __half *__restrict__ in, int vectors)
{
    const int64_t row = blockIdx.y;
    const uint4 *x_row = reinterpret_cast<const uint4 *>(in) + row * 2 * vectors;
    const uint4 *gate_row = x_row + vectors;
    uint4 *out_row = reinterpret_cast<uint4 *>(out) + row * vectors;
    const int base = blockIdx.x * (THREADS * UNROLL) + threadIdx.x;
    uint4 x[UNROLL], gate[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        int i = base + u * THREADS;
        if (i < vectors) {
            x[u] = __ldcs(x_row + i);
            gate[u] = __ldcs(gate_row + i);
        }
    }
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        int i = base + u * THREADS;
        if (i < vectors)
            __stcs(out_row + i, apply(x[u], gate[u]));
    }
}

__global__ void __launch_bounds__(256)
    silu_and_mul_scalar_kernel(__half *__restrict__ out, const __half *__restrict__ in, int d)
{
    const int64_t row = blockIdx.y;
    const int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (i < d) {
        float x = __half2float(in[row * 2 * d + i]);
        float gate = __half2float(in[row * 2 * d + d + i]);
        out[row * d + i] = __float2half(silu(x) * gate);
    }
}

template <int THREADS, int UNROLL>
static void launch(__half *out, const __half *in, int rows, int vectors, cudaStream_t stream)
{
    dim3 grid((vectors + THREADS * UNROLL - 1) / (THREADS * UNROLL), rows);
    silu_and_mul_vec_kernel<THREADS, UNROLL><<<grid, THREADS, 0, stream>>>(out, in, vectors);
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    const bool aligned = (uintptr_t)out % 16 == 0 && (uintptr_t)in % 16 == 0;
    if (d % VEC == 0 && aligned) {
        int vectors = d / VEC;
        int64_t total = (int64_t)rows * vectors;
        if (total <= 132 * 64)
            launch<32, 1>(out, in, rows, vectors, stream);
        else if (total <= 132 * 256)
            launch<64, 1>(out, in, rows, vectors, stream);
        else if (total <= 132 * 2048)
            launch<128, 1>(out, in, rows, vectors, stream);
        else
            launch<128, 2>(out, in, rows, vectors, stream);
    } else {
        dim3 grid((d + 255) / 256, rows);
        silu_and_mul_scalar_kernel<<<grid, 256, 0, stream>>>(out, in, d);
    }
}
