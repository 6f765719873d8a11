// A warp loads a tile with ldmatrix, multiplies, exchanges by shuffle and writes the tile again: ldmatrix is over for all
// lanes before any goes on, so the writes need no __syncwarp. The reads behind them do.
// buffer: out f32 256 out
// buffer: in f16 256 in
// launch: kernel grid 1 block 32 args out in
#include <cuda_fp16.h>

extern "C" __global__ void kernel(float *out, const __half *in)
{
    __shared__ alignas(16) __half tile[256];
    int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        ((uint4 *)tile)[t] = ((const uint4 *)in)[t ^ k];
        __syncwarp();
        unsigned a[4], from = (unsigned)__cvta_generic_to_shared(tile + t * 8);
        float c[4] = {};
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                     : "r"(from));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%4, %5}, "
                     "{%0, %1, %2, %3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
        float sum = c[0] + __shfl_xor_sync(~0u, c[1], 1);
        tile[(t * 7 + 3) % 32 * 8] = __float2half(sum);
        __syncwarp();
        out[t * 8 + k * 4] = __half2float(tile[t * 8]);
        for (int j = 1; j < 4; j++)
            out[t * 8 + k * 4 + j] = c[j];
        __syncwarp();
    }
}
