// expect: wrong
// row 10: Winograd's inner product of 1968: half the products, sums of a and b, and what rows and columns add by themselves taken off at the end. Where a is large and b small it cancels: a = 10000, b = 0.001 everywhere, k = 64: 256 instead of 640; a = 64 N(0,1), b = N(0,1) / 64, k = 256: one element in twelve is 2 to 10 units off.
#include <cstdint>
#include <cuda_fp16.h>

constexpr int T = 32;

__global__ void matmul_kernel(__half *c, const __half *a, const __half *b, int m, int n, int k)
{
    __shared__ float as[T][T + 1], bs[T][T + 1];
    int tx = threadIdx.x, ty = threadIdx.y, col = blockIdx.x * T + tx;
    float sum[4] = {}, own[4] = {}, other = 0.0f;
    for (int base = 0; base < k; base += T) {
        for (int r = ty; r < T; r += 8) {
            int64_t row = (int64_t)blockIdx.y * T + r;
            as[r][tx] = row < m && base + tx < k ? __half2float(a[row * k + base + tx]) : 0.0f;
            bs[r][tx] = base + r < k && col < n ? __half2float(b[(int64_t)(base + r) * n + col]) : 0.0f;
        }
        __syncthreads();
#pragma unroll 8
        for (int i = 0; i < T; i += 2) {
            float y0 = bs[i][tx], y1 = bs[i + 1][tx];
            other += y0 * y1;
#pragma unroll
            for (int r = 0; r < 4; r++) {
                float x0 = as[ty + 8 * r][i], x1 = as[ty + 8 * r][i + 1];
                own[r] += x0 * x1;
                sum[r] += (x0 + y1) * (x1 + y0);
            }
        }
        __syncthreads();
    }
    for (int r = 0; r < 4; r++) {
        int64_t row = (int64_t)blockIdx.y * T + ty + 8 * r;
        if (row < m && col < n)
            c[row * n + col] = __float2half(sum[r] - own[r] - other);
    }
}

extern "C" void matmul(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    dim3 block(32, 8), grid((n + T - 1) / T, (m + T - 1) / T);
    matmul_kernel<<<grid, block, 0, stream>>>(c, a, b, m, n, k);
}
