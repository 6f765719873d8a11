// expect: unsafe
// row 14: The rows of b are taken to be k apart: right where n is k.
#include <cstdint>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// A warp has one tile of 16 by 16; both operands come straight from global memory.
__global__ void whole_tiles(__half *c, const __half *a, const __half *b, int n, int k)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fragment<wmma::accumulator, 16, 16, 16, __half> result;
    const __half *row = a + (int64_t)blockIdx.y * 16 * k, *column = b + blockIdx.x * 16;

    wmma::fill_fragment(sum, 0.0f);
    for (int base = 0; base < k; base += 16) {
        wmma::load_matrix_sync(fa, row + base, k);
        wmma::load_matrix_sync(fb, column + (int64_t)base * n, k);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    for (int i = 0; i < sum.num_elements; i++)
        result.x[i] = __float2half(sum.x[i]);
    wmma::store_matrix_sync(c + (int64_t)blockIdx.y * 16 * n + blockIdx.x * 16, result, n, wmma::mem_row_major);
}

__global__ void any_size(__half *c, const __half *a, const __half *b, int m, int n, int k)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    float sum = 0.0f;
    if (row >= m || col >= n)
        return;
    for (int i = 0; i < k; i++)
        sum += __half2float(a[(int64_t)row * k + i]) * __half2float(b[(int64_t)i * n + col]);
    c[(int64_t)row * n + col] = __float2half(sum);
}

extern "C" void matmul(__half *c, const __half *a, const __half *b, int m, int n, int k, cudaStream_t stream)
{
    if (m % 16 == 0 && n % 16 == 0 && k % 16 == 0) {
        whole_tiles<<<dim3(n / 16, m / 16), 32, 0, stream>>>(c, a, b, n, k);
    } else {
        dim3 block(32, 8), grid((n + 31) / 32, (m + 7) / 8);
        any_size<<<grid, block, 0, stream>>>(c, a, b, m, n, k);
    }
}
