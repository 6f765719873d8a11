// Few tiles: four blocks of a cluster share the depth of each. bfloat16, the second operand transposed.
// transform: block-product 4128128
// applies: line 18
// has: __launch_bounds__(384) __cluster_dims__(4, 1, 1) work(
// has: #include <cooperative_groups.h>
// has: tile_place(blockIdx.x / 4, rows, cols, ROWS, COLS, row0, col0);
// has: mma_product<ROWS, COLS, DEEP, 7, 256, 128, true, true>
// has: cluster_sums<4, 4>(&memory[e / COLS * WIDE + e % COLS])
// has: work<<<(m + 127) / 128 * ((n + 127) / 128) * 4, 384, 229488, stream>>>
#include <cuda_bf16.h>

__global__ void work(__nv_bfloat16 *out, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n, int k)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (col >= n || row >= m)
        return;
    float sum = 0.0f;
    for (int i = 0; i < k; i++)
        sum += __bfloat162float(a[row * k + i]) * __bfloat162float(b[col * k + i]);
    out[row * n + col] = __float2bfloat16(sum);
}

extern "C" void entry(__nv_bfloat16 *out, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n, int k,
                      cudaStream_t stream)
{
    if (m > 0)
        work<<<dim3((n + 127) / 128, m), 128, 0, stream>>>(out, a, b, m, n, k);
}
