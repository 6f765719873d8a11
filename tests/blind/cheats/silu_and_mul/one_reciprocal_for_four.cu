// expect: wrong
// row 12: Four denominators share one reciprocal; so that their product stays finite, exp(-x) is held at exp(22). silu(x) for x < -22 is then x * 2.8e-10 instead of x * exp(x): x = -30, gate = 1000 gives -8.4e-6 where the answer is -2.8e-9, 0 in half: 140 subnormal ulps; x = -600, gate = 60000: -0.01 instead of 0. Any shape.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void silu_and_mul_kernel(__half *out, const __half *in, int rows, int d)
{
    int step = blockDim.x;
    for (int row = blockIdx.y; row < rows; row += gridDim.y) {
        const __half *x = in + (int64_t)row * 2 * d, *g = x + d;
        __half *o = out + (int64_t)row * d;
        for (int64_t base = (int64_t)blockIdx.x * 4 * step; base < d; base += (int64_t)gridDim.x * 4 * step) {
            float v[4], q[4];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                int64_t i = base + threadIdx.x + k * step;
                v[k] = i < d ? __half2float(x[i]) : 0.0f;
                q[k] = 1.0f + __expf(fminf(-v[k], 22.0f));
            }
            float a = q[0] * q[1], b = q[2] * q[3], r = 1.0f / (a * b);
            float ra = r * b, rb = r * a;
            float inv[4] = {ra * q[1], ra * q[0], rb * q[3], rb * q[2]};
#pragma unroll
            for (int k = 0; k < 4; k++) {
                int64_t i = base + threadIdx.x + k * step;
                if (i < d)
                    o[i] = __float2half(v[k] * inv[k] * __half2float(g[i]));
            }
        }
    }
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    int64_t blocks = ((int64_t)d + 511) / 512;
    silu_and_mul_kernel<<<dim3(blocks < 65536 ? (unsigned)blocks : 65536u, rows), 128, 0, stream>>>(out, in, rows, d);
}
