// Row and column out of one index; integers; the depth is a constant.
// transform: block-product 64064
// applies: line 21
// has: const long long rows = (long long)m, cols = (long long)n, depth = K;
// has: const int at = static_cast<int>((row0 + slab * SLAB + e / COLS) * cols + col0 + e % COLS + j);
// has: work<<<((m * n) / (n) + 63) / 64 * ((n + 63) / 64), 128, 65600, stream>>>
// has: mma_product<ROWS, COLS, DEEP, 4, 128, 0, true, true>
// lacks: at / n
#include <cuda_runtime.h>

constexpr int K = 96;

__global__ void __launch_bounds__(256) work(int *out, const signed char *a, const signed char *b, int m, int n)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = at / n, col = at % n;
    if (at >= m * n) {
        return;
    }
    int sum = 0;
    for (int i = 0; i < K; i++)
        sum += (int)a[row * K + i] * (int)b[i * n + col];
    out[at] = sum;
}

extern "C" void entry(int *out, const signed char *a, const signed char *b, int m, int n, cudaStream_t stream)
{
    work<<<(m * n + 255) / 256, 256, 0, stream>>>(out, a, b, m, n);
}
