// expect: correct
// Tensor cores by the wmma interface; tiles beyond the matrix go through shared memory.
#include <cstdint>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

__global__ void matmul_kernel(__half *c, const __half *a, const __half *b, int m, int n, int k)
{
    __shared__ __align__(32) __half sa[256], sb[256];
    __shared__ __align__(32) float sc[256];
    int row0 = blockIdx.y * 16, col0 = blockIdx.x * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int base = 0; base < k; base += 16) {
        for (int i = threadIdx.x; i < 256; i += 32) {
            int r = i / 16, q = i % 16;
            sa[i] = row0 + r < m && base + q < k ? a[(int64_t)(row0 + r) * k + base + q] : __half(0.0f);
            sb[i] = base + r < k && col0 + q < n ? b[(int64_t)(base + r) * n + col0 + q] : __half(0.0f);
        }
        __syncwarp();
        wmma::load_matrix_sync(fa, sa, 16);
        wmma::load_matrix_sync(fb, sb, 16);
        wmma::mma_sync(sum, fa, fb, sum);
        __syncwarp();
    }
    wmma::store_matrix_sync(sc, sum, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < 256; i += 32)
        if (row0 + i / 16 < m && col0 + i % 16 < n)
            c[(int64_t)(row0 + i / 16) * n + col0 + i % 16] = __float2half(sc[i]);
}

extern "C" void matmul(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    dim3 grid((n + 15) / 16, (m + 15) / 16);
    matmul_kernel<<<grid, 32, 0, stream>>>(c, a, b, m, n, k);
}
