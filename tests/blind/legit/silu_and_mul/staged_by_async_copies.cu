// Right: a persistent grid; each block copies the next 2 x 1024 halves by cp.async into the other of two stages while it computes this one; parts that are no whole 16 bytes or misaligned (d % 8 != 0) are read directly.
#include <cstdint>
#include <cuda_fp16.h>
constexpr int PART = 1024;
__device__ void copy16(void *to, const void *from)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
}
__global__ __launch_bounds__(128) void silu_kernel(__half *out, const __half *in, int rows, int d)
{
    __shared__ __align__(16) __half stage[2][2][PART];
    int t = threadIdx.x;
    int64_t per_row = ((int64_t)d + PART - 1) / PART, parts = per_row * rows;
    bool wide = d % 8 == 0;
    auto fetch = [&](int64_t part, int to) {
        if (wide && part < parts) {
            int64_t row = part / per_row, c = part % per_row * PART + t * 8;
            if (c < d) {
                copy16(&stage[to][0][t * 8], in + row * 2 * d + c);
                copy16(&stage[to][1][t * 8], in + row * 2 * d + d + c);
            }
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    fetch(blockIdx.x, 0);
    int now = 0;
    for (int64_t part = blockIdx.x; part < parts; part += gridDim.x, now ^= 1) {
        fetch(part + gridDim.x, now ^ 1);
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        int64_t row = part / per_row, c = part % per_row * PART;
        if (wide) {
            // each thread reads only what it copied itself
            if (c + t * 8 < d) {
                uint4 y;
                __half2 *ys = (__half2 *)&y;
                for (int k = 0; k < 4; k++) {
                    float2 x = __half22float2(*(__half2 *)&stage[now][0][t * 8 + 2 * k]);
                    float2 g = __half22float2(*(__half2 *)&stage[now][1][t * 8 + 2 * k]);
                    ys[k] = __floats2half2_rn(x.x / (1.0f + __expf(-x.x)) * g.x, x.y / (1.0f + __expf(-x.y)) * g.y);
                }
                *(uint4 *)(out + row * d + c + t * 8) = y;
            }
        } else {
            for (int64_t i = c + t; i < c + PART && i < d; i += 128) {
                float x = __half2float(in[row * 2 * d + i]), g = __half2float(in[row * 2 * d + d + i]);
                out[row * d + i] = __float2half(x / (1.0f + __expf(-x)) * g);
            }
        }
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    int64_t parts = ((int64_t)d + PART - 1) / PART * rows;
    silu_kernel<<<(unsigned)(parts < 2112 ? parts : 2112), 128, 0, stream>>>(out, in, rows, d);
}
