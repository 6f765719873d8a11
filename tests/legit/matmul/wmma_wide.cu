// expect: correct
// Flat and tall fragments: 8 x 32 for what 32 x 8 leaves of the rows.
#include <cstdint>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

template <int M, int N> __device__ void tile(__half *c, const __half *a, const __half *b, int n, int k)
{
    wmma::fragment<wmma::matrix_a, M, N, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, 16, __half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, M, N, 16, float> sum;
    wmma::fragment<wmma::accumulator, M, N, 16, __half> result;
    wmma::fill_fragment(sum, 0.0f);
    for (int base = 0; base < k; base += 16) {
        wmma::load_matrix_sync(fa, a + base, k);
        wmma::load_matrix_sync(fb, b + (int64_t)base * n, n);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    for (int i = 0; i < sum.num_elements; i++)
        result.x[i] = __float2half(sum.x[i]);
    wmma::store_matrix_sync(c, result, n, wmma::mem_row_major);
}

// A warp has 32 columns and 32 rows, or the 8 rows that are left: blockIdx.y counts whole bands first.
__global__ void bands(__half *c, const __half *a, const __half *b, int m, int n, int k)
{
    int col = blockIdx.x * 32, whole = m / 32, band = blockIdx.y;
    if (band < whole) {
        for (int i = 0; i < 4; i++)
            tile<32, 8>(c + (int64_t)band * 32 * n + col + 8 * i, a + (int64_t)band * 32 * k, b + col + 8 * i, n, k);
    } else {
        int row = whole * 32 + (band - whole) * 8;
        tile<8, 32>(c + (int64_t)row * n + col, a + (int64_t)row * k, b + col, n, k);
    }
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
    if (m % 8 == 0 && n % 32 == 0 && k % 16 == 0) {
        bands<<<dim3(n / 32, m / 32 + m % 32 / 8), 32, 0, stream>>>(c, a, b, m, n, k);
    } else {
        dim3 block(32, 8), grid((n + 31) / 32, (m + 7) / 8);
        any_size<<<grid, block, 0, stream>>>(c, a, b, m, n, k);
    }
}
