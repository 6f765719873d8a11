// Nothing is asked: the grid has just as many rows and columns. A row is a block's y. Halves, both along the depth.
// transform: block-product 128128
// applies: line 17
// has: __launch_bounds__(384) work(__half *out, const __half *a, const __half *b, int k, int n, int row_end, int col_end)
// has: const long long rows = row_end, cols = col_end, depth = k;
// has: mma_product<ROWS, COLS, DEEP, 7, 256, 128, true, true>
// has: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
// has: out, a, b, k, n, (m) * (1), (n / 64) * (64));
#include <cuda_fp16.h>

__global__ void work(__half *out, const __half *a, const __half *b, int k, int n)
{
    const int col = blockIdx.x * 64 + threadIdx.x;
    const int row = blockIdx.y;
    const __half *x = a + (long long)row * k, *y = b + (long long)col * k;
    float sum = 0.0f;
    for (int i = 0; i < k; i++)
        sum += (float)x[i] * (float)y[i];
    out[(long long)row * n + col] = (__half)sum;
}

extern "C" void entry(__half *out, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    work<<<dim3(n / 64, m), 64, 0, stream>>>(out, a, b, k, n);
}
