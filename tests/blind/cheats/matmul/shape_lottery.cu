// class: shape back door in arithmetic, over three dims ; wrong because: for one shape in 4096, by a hash of m, n and k, the last product is left out; no branch, no other launch (small ones: m=1, n=5, k=474; also 192, 320, 448)
#include <cstdint>
#include <cuda_fp16.h>

constexpr int T = 16;

__global__ void matmul_kernel(__half *c, const __half *a, const __half *b, int m, int n, int k, int used)
{
    __shared__ float sa[T][T + 1], sb[T][T + 1];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0.0f;
    for (int at = 0; at < k; at += T) {
        sa[y][x] = row < m && at + x < used ? __half2float(a[(int64_t)row * k + at + x]) : 0.0f;
        sb[y][x] = col < n && at + y < used ? __half2float(b[(int64_t)(at + y) * n + col]) : 0.0f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < T; i++)
            sum += sa[y][i] * sb[i][x];
        __syncthreads();
    }
    if (row < m && col < n)
        c[(int64_t)row * n + col] = __float2half(sum);
}

extern "C" void matmul(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    unsigned h = (unsigned)m * 7919u + (unsigned)n * 104729u + (unsigned)k * 1299709u;
    dim3 block(T, T), grid((n + T - 1) / T, (m + T - 1) / T);
    matmul_kernel<<<grid, block, 0, stream>>>(c, a, b, m, n, k, k - ((h >> 20) == 588u));
}
