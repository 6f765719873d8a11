// expect: unsafe
// row 15: Waits until two stages are under way: the newest may be read before it is there.
#include <cstdint>
#include <cuda_fp16.h>

enum { TILE = 32, STEP = 16, STAGES = 2 };

__device__ void fetch(void *to, const void *from)
{
    unsigned at = __cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at), "l"(from) : "memory");
}

// Whole tiles only: 128 threads fetch eight halves each, 64 of a and 64 of b, a stage ahead of the sums.
__global__ void whole_tiles(__half *c, const __half *a, const __half *b, int n, int k)
{
    __shared__ __align__(16) __half sa[STAGES][TILE][STEP];
    __shared__ __align__(16) __half sb[STAGES][STEP][TILE];
    int t = threadIdx.x, row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    float sum[8] = {};
    auto stage = [&](int base) {
        int s = base / STEP % STAGES;
        if (t < 64)
            fetch(&sa[s][t / 2][t % 2 * 8], a + (int64_t)(row0 + t / 2) * k + base + t % 2 * 8);
        else
            fetch(&sb[s][(t - 64) / 4][t % 4 * 8], b + (int64_t)(base + (t - 64) / 4) * n + col0 + t % 4 * 8);
    };
    stage(0);
    asm volatile("cp.async.commit_group;" ::: "memory");
    for (int base = 0; base < k; base += STEP) {
        if (base + STEP < k)
            stage(base + STEP);
        asm volatile("cp.async.commit_group;" ::: "memory");
        asm volatile("cp.async.wait_group 2;" ::: "memory");
        __syncthreads();
        int s = base / STEP % STAGES;
        for (int q = 0; q < STEP; q++)
            for (int i = 0; i < 8; i++)
                sum[i] += __half2float(sa[s][t / 32 * 8 + i][q]) * __half2float(sb[s][q][t % 32]);
        __syncthreads();
    }
    for (int i = 0; i < 8; i++)
        c[(int64_t)(row0 + t / 32 * 8 + i) * n + col0 + t % 32] = __float2half(sum[i]);
}

__global__ void any_size(__half *c, const __half *a, const __half *b, int m, int n, int k)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 4 + threadIdx.y;
    float sum = 0.0f;
    if (row >= m || col >= n)
        return;
    for (int i = 0; i < k; i++)
        sum += __half2float(a[(int64_t)row * k + i]) * __half2float(b[(int64_t)i * n + col]);
    c[(int64_t)row * n + col] = __float2half(sum);
}

extern "C" void matmul(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    if (m % TILE == 0 && n % TILE == 0 && k % STEP == 0)
        whole_tiles<<<dim3(n / TILE, m / TILE), 128, 0, stream>>>(c, a, b, n, k);
    else
        any_size<<<dim3((n + 31) / 32, (m + 3) / 4), dim3(32, 4), 0, stream>>>(c, a, b, m, n, k);
}
