// mma.sync m16n8k16 with float sums, ldmatrix, two cp.async stages; shapes that are no whole vectors are loaded one by one into the same tiles, zeros beyond the edges.
#include <cstdint>
#include <cuda_fp16.h>

constexpr int BM = 32, BN = 32, BK = 32, PAD = 8;

struct Stage {
    __half a[BM][BK + PAD];
    __half b[BK][BN + PAD];
};

__device__ __forceinline__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void copy16(void *to, const void *from, bool in)
{
    int bytes = in ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at(to)), "l"(from), "r"(bytes) : "memory");
}

template <bool VECTORS> __device__ __forceinline__ void load(Stage &s, const __half *a, const __half *b, int m, int n, int k, int row, int col, int from)
{
    if (VECTORS) {
        int r = threadIdx.x / 4, c = threadIdx.x % 4 * 8;
        bool in = row + r < m && from + c < k;
        copy16(&s.a[r][c], in ? a + (int64_t)(row + r) * k + from + c : a, in);
        in = from + r < k && col + c < n;
        copy16(&s.b[r][c], in ? b + (int64_t)(from + r) * n + col + c : b, in);
        asm volatile("cp.async.commit_group;" ::: "memory");
    } else {
        for (int i = threadIdx.x; i < BM * BK; i += 128) {
            int r = i / BK, c = i % BK;
            s.a[r][c] = row + r < m && from + c < k ? a[(int64_t)(row + r) * k + from + c] : __half(0.0f);
        }
        for (int i = threadIdx.x; i < BK * BN; i += 128) {
            int r = i / BN, c = i % BN;
            s.b[r][c] = from + r < k && col + c < n ? b[(int64_t)(from + r) * n + col + c] : __half(0.0f);
        }
    }
}

template <bool VECTORS> __global__ void __launch_bounds__(128) matmul_kernel(__half *c, const __half *a, const __half *b, int m, int n, int k)
{
    __shared__ __align__(16) Stage stages[2];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, wr = warp / 2 * 16, wc = warp % 2 * 16;
    const int row = blockIdx.y * BM, col = blockIdx.x * BN;
    float sum[2][4] = {};
    const int tiles = (k + BK - 1) / BK;
    load<VECTORS>(stages[0], a, b, m, n, k, row, col, 0);
    for (int t = 0; t < tiles; t++) {
        if (t + 1 < tiles)
            load<VECTORS>(stages[(t + 1) & 1], a, b, m, n, k, row, col, (t + 1) * BK);
        else if (VECTORS)
            asm volatile("cp.async.commit_group;" ::: "memory");
        if (VECTORS)
            asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        Stage &s = stages[t & 1];
#pragma unroll
        for (int q = 0; q < BK; q += 16) {
            unsigned fa[4], fb[4];
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(at(&s.a[wr + lane % 16][q + lane / 16 * 8])) : "memory");
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(fb[0]), "=r"(fb[1]), "=r"(fb[2]), "=r"(fb[3]) : "r"(at(&s.b[q + lane % 16][wc + lane / 16 * 8])) : "memory");
#pragma unroll
            for (int h = 0; h < 2; h++)
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" : "+f"(sum[h][0]), "+f"(sum[h][1]), "+f"(sum[h][2]), "+f"(sum[h][3]) : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[2 * h]), "r"(fb[2 * h + 1]));
        }
        __syncthreads();
    }
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int r = row + wr + lane / 4 + j / 2 * 8, q = col + wc + h * 8 + lane % 4 * 2 + j % 2;
            if (r < m && q < n)
                c[(int64_t)r * n + q] = __float2half(sum[h][j]);
        }
}

extern "C" void matmul(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    dim3 grid((n + BN - 1) / BN, (m + BM - 1) / BM);
    if (n % 8 == 0 && k % 8 == 0)
        matmul_kernel<true><<<grid, 128, 0, stream>>>(c, a, b, m, n, k);
    else
        matmul_kernel<false><<<grid, 128, 0, stream>>>(c, a, b, m, n, k);
}
