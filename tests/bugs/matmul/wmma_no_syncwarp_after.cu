// expect: unsafe words race
// row 15: The next tile is staged while slower lanes still read this one.
#include <cstdint>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

enum { TILE = 64, STEP = 32, PAD = 8, STAGES = 2 };

struct stage {
    __half a[TILE][STEP + PAD], b[STEP][TILE + PAD];
};

__device__ void fetch(void *to, const void *from)
{
    unsigned at = __cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at), "l"(from) : "memory");
}

// Four warps, each with 32 x 32 of the block's 64 x 64; the next stage is on its way while this one is multiplied.
__global__ void whole_tiles(__half *c, const __half *a, const __half *b, int n, int k)
{
    __shared__ alignas(128) stage stages[STAGES];
    __shared__ alignas(128) float staged[4][16][20];
    int t = threadIdx.x, warp = t / 32, lane = t % 32, row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    int wr = warp / 2 * 32, wc = warp % 2 * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            wmma::fill_fragment(sum[i][j], 0.0f);

    auto load = [&](int base) {
        stage &s = stages[base / STEP % STAGES];
        for (int i = t; i < TILE * STEP / 8; i += 128)
            fetch(&s.a[i / 4][i % 4 * 8], a + (int64_t)(row0 + i / 4) * k + base + i % 4 * 8);
        for (int i = t; i < TILE * STEP / 8; i += 128)
            fetch(&s.b[i / 8][i % 8 * 8], b + (int64_t)(base + i / 8) * n + col0 + i % 8 * 8);
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    load(0);
    for (int base = 0; base < k; base += STEP) {
        if (base + STEP < k) {
            load(base + STEP);
            asm volatile("cp.async.wait_group 1;" ::: "memory");
        } else {
            asm volatile("cp.async.wait_group 0;" ::: "memory");
        }
        __syncthreads();
        const stage &s = stages[base / STEP % STAGES];
        for (int q = 0; q < STEP; q += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb[2];
            for (int i = 0; i < 2; i++) {
                wmma::load_matrix_sync(fa[i], &s.a[wr + i * 16][q], STEP + PAD);
                wmma::load_matrix_sync(fb[i], &s.b[q][wc + i * 16], TILE + PAD);
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++)
                    wmma::mma_sync(sum[i][j], fa[i], fb[j], sum[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            wmma::store_matrix_sync(&staged[warp][0][0], sum[i][j], 20, wmma::mem_row_major);
            __syncwarp();
            for (int e = lane; e < 256; e += 32)
                c[(int64_t)(row0 + wr + i * 16 + e / 16) * n + col0 + wc + j * 16 + e % 16] = __float2half(staged[warp][e / 16][e % 16]);
        }
}

__global__ void any_size(__half *c, const __half *a, const __half *b, int m, int n, int k)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    float sum = 0.0f;
    if (row >= m || col >= n)
        return;
    for (int i = 0; i < k; i++)
        sum += __half2float(a[(int64_t)row * k + i]) * __half2float(b[(int64_t)i * n + col]);
    c[(int64_t)row * n + col] = __float2half(sum);
}

extern "C" void matmul(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    if (m % 64 == 0 && n % 64 == 0 && k % 32 == 0) {
        whole_tiles<<<dim3(n / 64, m / 64), 128, 0, stream>>>(c, a, b, n, k);
    } else {
        dim3 block(32, 8), grid((n + 31) / 32, (m + 7) / 8);
        any_size<<<grid, block, 0, stream>>>(c, a, b, m, n, k);
    }
}
