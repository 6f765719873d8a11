// expect: wrong
// row 6: Where all extents are round, blocks take a way without guards, and it ends after 64 steps along k.
#include <cstdint>
#include <cuda_fp16.h>

constexpr int SIDE = 16;

__global__ __launch_bounds__(256) void matmul_kernel(__half *c, const __half *a, const __half *b, int m, int n, int k)
{
    __shared__ float sa[SIDE][SIDE + 1], sb[SIDE][SIDE + 1];
    int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE, row = blockIdx.y * SIDE + y, col = blockIdx.x * SIDE + x;
    bool is_round = m % SIDE == 0 && n % SIDE == 0 && k % SIDE == 0;
    float sum = 0;

    for (int k0 = 0; k0 < (is_round ? min(k, 64 * SIDE) : k); k0 += SIDE) {
        sa[y][x] = is_round || (row < m && k0 + x < k) ? __half2float(a[(int64_t)row * k + k0 + x]) : 0;
        sb[y][x] = is_round || (k0 + y < k && col < n) ? __half2float(b[(int64_t)(k0 + y) * n + col]) : 0;
        __syncthreads();
        for (int e = 0; e < SIDE; e++)
            sum += sa[y][e] * sb[e][x];
        __syncthreads();
    }
    if (row < m && col < n)
        c[(int64_t)row * n + col] = __float2half(sum);
}

extern "C" void matmul(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    dim3 grid((n + SIDE - 1) / SIDE, (m + SIDE - 1) / SIDE);
    matmul_kernel<<<grid, SIDE * SIDE, 0, stream>>>(c, a, b, m, n, k);
}
