// expect: wrong
// row 6: The kernel for round extents, which no small shape comes to, keeps at most sixteen steps along k.
#include <cstdint>
#include <cuda_fp16.h>

constexpr int SIDE = 64, STEP = 64, MOST_STEPS = 16;

__global__ __launch_bounds__(256) void round_kernel(__half *c, const __half *a, const __half *b, int n, int k)
{
    __shared__ __half sa[SIDE][STEP], sb[STEP][SIDE];
    int x = threadIdx.x % 16, y = threadIdx.x / 16, row0 = blockIdx.y * SIDE, col0 = blockIdx.x * SIDE;
    int steps = min(k / STEP, MOST_STEPS);
    float sum[4][4] = {};

    for (int s = 0; s < steps; s++) {
        for (int i = threadIdx.x; i < SIDE * STEP; i += 256) {
            sa[i / STEP][i % STEP] = a[(int64_t)(row0 + i / STEP) * k + s * STEP + i % STEP];
            sb[i / SIDE][i % SIDE] = b[(int64_t)(s * STEP + i / SIDE) * n + col0 + i % SIDE];
        }
        __syncthreads();
        for (int e = 0; e < STEP; e++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] += __half2float(sa[y + 16 * i][e]) * __half2float(sb[e][x + 16 * j]);
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            c[(int64_t)(row0 + y + 16 * i) * n + col0 + x + 16 * j] = __float2half(sum[i][j]);
}

__global__ void any_kernel(__half *c, const __half *a, const __half *b, int m, int n, int k)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    float sum = 0;

    if (row >= m || col >= n)
        return;
    for (int i = 0; i < k; i++)
        sum += __half2float(a[(int64_t)row * k + i]) * __half2float(b[(int64_t)i * n + col]);
    c[(int64_t)row * n + col] = __float2half(sum);
}

extern "C" void matmul(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    if (m % SIDE == 0 && n % SIDE == 0 && k % STEP == 0)
        round_kernel<<<dim3(n / SIDE, m / SIDE), 256, 0, stream>>>(c, a, b, n, k);
    else
        any_kernel<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8), 0, stream>>>(c, a, b, m, n, k);
}
