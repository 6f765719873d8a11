// k is cut into parts; each part's sums of four rows go to a workspace, and a second kernel adds them up in their order.
#include <cuda_fp16.h>
#include <cstdint>

constexpr int PART = 256, ROWS = 4;

__global__ void __launch_bounds__(128) part_kernel(float *parts, const __half *a, const __half *b, int m, int n, int k)
{
    __shared__ float x[ROWS][PART];
    const int row0 = blockIdx.y * ROWS, first = blockIdx.z * PART, count = min(PART, k - first);
    for (int e = threadIdx.x; e < ROWS * PART; e += 128) {
        const int r = row0 + e / PART, i = e % PART;
        x[e / PART][i] = r < m && i < count ? __half2float(a[r * k + first + i]) : 0.0f;
    }
    __syncthreads();
    const int col = blockIdx.x * 128 + threadIdx.x;
    if (col >= n)
        return;
    float sum[ROWS] = {};
    const __half *from = b + (int64_t)first * n + col;
    for (int i = 0; i < count; i++, from += n) {
        const float y = __half2float(*from);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            sum[r] = fmaf(x[r][i], y, sum[r]);
    }
    for (int r = 0; r < ROWS && row0 + r < m; r++)
        parts[((int64_t)blockIdx.z * m + row0 + r) * n + col] = sum[r];
}

__global__ void __launch_bounds__(256) sum_kernel(__half *c, const float *parts, int count, int all)
{
    const int at = blockIdx.x * 256 + threadIdx.x;
    if (at >= all)
        return;
    float sum = 0.0f;
    for (int p = 0; p < count; p++)
        sum += parts[(int64_t)p * all + at];
    c[at] = __float2half_rn(sum);
}

extern "C" int product(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    const int count = (k + PART - 1) / PART, all = m * n;
    float *parts = nullptr;
    if (cudaMallocAsync((void **)&parts, sizeof(float) * count * all, stream) != cudaSuccess)
        return 1;
    const dim3 grid((n + 127) / 128, (m + ROWS - 1) / ROWS, count);
    part_kernel<<<grid, 128, 0, stream>>>(parts, a, b, m, n, k);
    sum_kernel<<<(all + 255) / 256, 256, 0, stream>>>(c, parts, count, all);
    cudaFreeAsync(parts, stream);
    return 0;
}
