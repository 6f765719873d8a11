// Right: warps specialised: warps 0 and 1 fill a ring of stages (16-byte words where d % 8 == 0, else halves), warps 2 to 5 compute from it; named barriers hand over stage by stage.
#include <cstdint>
#include <cuda_bf16.h>
constexpr int PART = 1024, READERS = 64, WORKERS = 128;
__global__ __launch_bounds__(192) void silu_kernel(__nv_bfloat16 *out, const __nv_bfloat16 *in, int rows, int d)
{
    __shared__ __align__(16) __nv_bfloat16 x[2][PART], g[2][PART];
    int64_t per_row = ((int64_t)d + PART - 1) / PART, parts = per_row * rows;
    int t = threadIdx.x, stage = 0;
    bool reader = t < READERS;
    int turn = 0;
    for (int64_t part = blockIdx.x; part < parts; part += gridDim.x, stage ^= 1, turn++) {
        int64_t row = part / per_row, c = part % per_row * PART;
        int n = (int)(d - c < PART ? d - c : PART);
        const __nv_bfloat16 *xs = in + row * 2 * d + c, *gs = xs + d;
        if (reader) {
            if (turn >= 2) // until the workers have left this stage
                asm volatile("bar.sync %0, 192;" ::"r"(3 + stage) : "memory");
            if (d % 8 == 0)
                for (int i = t * 8; i < n; i += READERS * 8) {
                    *(uint4 *)&x[stage][i] = *(const uint4 *)(xs + i);
                    *(uint4 *)&g[stage][i] = *(const uint4 *)(gs + i);
                }
            else
                for (int i = t; i < n; i += READERS) {
                    x[stage][i] = xs[i];
                    g[stage][i] = gs[i];
                }
            __threadfence_block();
            asm volatile("bar.arrive %0, 192;" ::"r"(1 + stage) : "memory");
        } else {
            asm volatile("bar.sync %0, 192;" ::"r"(1 + stage) : "memory");
            for (int i = t - READERS; i < n; i += WORKERS) {
                float a = __bfloat162float(x[stage][i]);
                out[row * d + c + i] = __float2bfloat16(a / (1.0f + expf(-a)) * __bfloat162float(g[stage][i]));
            }
            if (part + 2 * (int64_t)gridDim.x < parts)
                asm volatile("bar.arrive %0, 192;" ::"r"(3 + stage) : "memory");
        }
    }
}
extern "C" void silu_and_mul(__nv_bfloat16 *out, const __nv_bfloat16 *in, int rows, int d, cudaStream_t stream)
{
    int64_t parts = ((int64_t)d + PART - 1) / PART * rows;
    silu_kernel<<<(unsigned)(parts < 1056 ? parts : 1056), 192, 0, stream>>>(out, in, rows, d);
}
