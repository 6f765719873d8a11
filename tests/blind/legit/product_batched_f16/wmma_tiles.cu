// Tensor cores through wmma: a warp makes a tile of 16 by 64; operands go through shared memory, zero outside.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void __launch_bounds__(128) product_kernel(__half *__restrict__ c, const __half *__restrict__ a, const __half *__restrict__ b, int m, int n, int k, float scale)
{
    __shared__ __align__(32) __half s[64][24], t[64][24];
    __shared__ __align__(32) float r[4][16][20];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
    const size_t z = blockIdx.z;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4];
    for (auto &f : sum)
        wmma::fill_fragment(f, 0.0f);
    for (int i0 = 0; i0 < k; i0 += 16) {
        for (int e = threadIdx.x; e < 1024; e += 128) {
            const int y = e / 16, i = i0 + e % 16;
            s[y][e % 16] = row0 + y < m && i < k ? a[(z * m + row0 + y) * k + i] : __half(0.0f);
            t[y][e % 16] = col0 + y < n && i < k ? b[(z * n + col0 + y) * k + i] : __half(0.0f);
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x;
        wmma::load_matrix_sync(x, &s[warp * 16][0], 24);
        for (int j = 0; j < 4; j++) {
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> y;
            wmma::load_matrix_sync(y, &t[j * 16][0], 24);
            wmma::mma_sync(sum[j], x, y, sum[j]);
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; j++) {
        wmma::store_matrix_sync(&r[warp][0][0], sum[j], 20, wmma::mem_row_major);
        __syncwarp();
        for (int e = lane; e < 256; e += 32) {
            const int row = row0 + warp * 16 + e / 16, col = col0 + j * 16 + e % 16;
            if (row < m && col < n)
                c[(z * m + row) * n + col] = __float2half(scale * r[warp][e / 16][e % 16]);
        }
        __syncwarp();
    }
}

extern "C" void product(__half *c, const __half *a, const __half *b, int p, int m, int n, int k, cudaStream_t stream)
{
    const dim3 grid{(unsigned)(n + 63) / 64, (unsigned)(m + 63) / 64, (unsigned)p};
    product_kernel<<<grid, 128, 0, stream>>>(c, a, b, m, n, k, 0.125f);
}
