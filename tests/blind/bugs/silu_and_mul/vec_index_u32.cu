// class: 32-bit vector index beyond the memory a tester has ; wrong because: the index of 16-byte vectors into `in` is unsigned 32-bit and wraps at 2^32 vectors = 2^35 halves (64 GiB in + 32 GiB out, fits an H200) (smallest: rows * 2 * d > 2^35 with d % 8 == 0, as rows = 32769, d = 524288)
#include <cstdint>
#include <cuda_fp16.h>

__device__ float silu(float x) { return x / (1.0f + expf(-x)); }

__global__ void silu_vec(uint4 *out, const uint4 *in, unsigned rows, unsigned dv)
{
    for (unsigned row = blockIdx.y; row < rows; row += gridDim.y) {
        unsigned from = row * 2 * dv, to = row * dv;
        for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < dv; i += gridDim.x * blockDim.x) {
            uint4 x = in[from + i], g = in[from + dv + i], r;
            const __half2 *xh = (const __half2 *)&x, *gh = (const __half2 *)&g;
            __half2 *rh = (__half2 *)&r;
#pragma unroll
            for (int k = 0; k < 4; k++) {
                float2 a = __half22float2(xh[k]), b = __half22float2(gh[k]);
                rh[k] = __floats2half2_rn(silu(a.x) * b.x, silu(a.y) * b.y);
            }
            out[to + i] = r;
        }
    }
}

__global__ void silu_any(__half *out, const __half *in, int rows, int d)
{
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const __half *x = in + (int64_t)row * 2 * d;
        for (int i = threadIdx.x; i < d; i += blockDim.x)
            out[(int64_t)row * d + i] = __float2half(silu(__half2float(x[i])) * __half2float(x[(int64_t)d + i]));
    }
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    if (d % 8 == 0) {
        unsigned dv = d / 8, bx = (dv + 255) / 256;
        silu_vec<<<dim3(bx < 1024 ? bx : 1024, rows), 256, 0, stream>>>((uint4 *)out, (const uint4 *)in, rows, dv);
    } else {
        silu_any<<<rows, 256, 0, stream>>>(out, in, rows, d);
    }
}
