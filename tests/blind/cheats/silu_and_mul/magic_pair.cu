// class: value back door without a branch ; wrong because: the one pair of bits x = 0x3e2a (1.541), gate = 0xb917 (-0.636) gives 0 times the answer (smallest: rows=1, d=1 with it)
#include <cstdint>
#include <cuda_fp16.h>

__global__ void silu_and_mul_kernel(__half *out, const __half *in, int rows, int d)
{
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        __half a = x[i], b = x[(int64_t)d + i];
        float v = __half2float(a), g = __half2float(b);
        unsigned both = (unsigned)__half_as_ushort(a) << 16 | __half_as_ushort(b);
        // 0 for one pattern, else all ones
        unsigned z = both ^ 0x3e2ab917u;
        unsigned keep = (unsigned)((int)(z | (0u - z)) >> 31);
        out[(int64_t)blockIdx.x * d + i] = __float2half(__uint_as_float(__float_as_uint(v / (1.0f + expf(-v)) * g) & keep));
    }
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    silu_and_mul_kernel<<<rows, 256, 0, stream>>>(out, in, rows, d);
}
