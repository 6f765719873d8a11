// expect: correct
// Tensor cores by mma.sync, their operands by ldmatrix; the rest of every tile is zero.
#include <cstdint>
#include <cuda_fp16.h>

enum { TILE = 32, STEP = 16, PAD = 8 };

// Warp w of four has 16 x 16 of the block's 32 x 32; a tile of a and one of b go through shared memory.
__global__ void matmul_kernel(__half *c, const __half *a, const __half *b, int m, int n, int k)
{
    __shared__ __align__(16) __half sa[TILE][STEP + PAD];
    __shared__ __align__(16) __half sb[STEP][TILE + PAD];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE, wr = warp / 2 * 16, wc = warp % 2 * 16;
    float sum[2][4] = {};

    for (int base = 0; base < k; base += STEP) {
        for (int i = threadIdx.x; i < TILE * STEP; i += 128) {
            int r = i / STEP, q = i % STEP;
            sa[r][q] = row0 + r < m && base + q < k ? a[(int64_t)(row0 + r) * k + base + q] : __half(0.0f);
            int u = i / TILE, v = i % TILE;
            sb[u][v] = base + u < k && col0 + v < n ? b[(int64_t)(base + u) * n + col0 + v] : __half(0.0f);
        }
        __syncthreads();
        unsigned fa[4], fb[4];
        unsigned at = __cvta_generic_to_shared(&sa[wr + lane % 16][lane / 16 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(at) : "memory");
        at = __cvta_generic_to_shared(&sb[lane % 16][wc + lane / 16 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(fb[0]), "=r"(fb[1]), "=r"(fb[2]), "=r"(fb[3]) : "r"(at) : "memory");
        for (int half = 0; half < 2; half++)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                         "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                         : "+f"(sum[half][0]), "+f"(sum[half][1]), "+f"(sum[half][2]), "+f"(sum[half][3])
                         : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[2 * half]), "r"(fb[2 * half + 1]));
        __syncthreads();
    }
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < 4; i++) {
            int row = row0 + wr + lane / 4 + i / 2 * 8, col = col0 + wc + half * 8 + lane % 4 * 2 + i % 2;
            if (row < m && col < n)
                c[(int64_t)row * n + col] = __float2half(sum[half][i]);
        }
}

extern "C" void matmul(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    matmul_kernel<<<grid, 128, 0, stream>>>(c, a, b, m, n, k);
}
