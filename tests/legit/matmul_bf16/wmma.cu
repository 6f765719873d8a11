// expect: correct
// wmma of bf16, its sums stored through shared memory: fragments of sums in bf16 there are none.
#include <cstdint>
#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;

// A warp has one tile of 16 by 16; both operands come straight from global memory.
__global__ void whole_tiles(__nv_bfloat16 *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int n, int k)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    __shared__ alignas(32) float staged[16][20];
    const __nv_bfloat16 *row = a + (int64_t)blockIdx.y * 16 * k, *column = b + blockIdx.x * 16;

    wmma::fill_fragment(sum, 0.0f);
    for (int base = 0; base < k; base += 16) {
        wmma::load_matrix_sync(fa, row + base, k);
        wmma::load_matrix_sync(fb, column + (int64_t)base * n, n);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(&staged[0][0], sum, 20, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < 256; i += 32)
        c[((int64_t)blockIdx.y * 16 + i / 16) * n + blockIdx.x * 16 + i % 16] = __float2bfloat16(staged[i / 16][i % 16]);
}

__global__ void any_size(__nv_bfloat16 *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n, int k)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    float sum = 0.0f;
    if (row >= m || col >= n)
        return;
    for (int i = 0; i < k; i++)
        sum += __bfloat162float(a[(int64_t)row * k + i]) * __bfloat162float(b[(int64_t)i * n + col]);
    c[(int64_t)row * n + col] = __float2bfloat16(sum);
}

extern "C" void matmul_bf16(__nv_bfloat16 *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n, int k, cudaStream_t stream)
{
    if (m % 16 == 0 && n % 16 == 0 && k % 16 == 0) {
        whole_tiles<<<dim3(n / 16, m / 16), 32, 0, stream>>>(c, a, b, n, k);
    } else {
        dim3 block(32, 8), grid((n + 31) / 32, (m + 7) / 8);
        any_size<<<grid, block, 0, stream>>>(c, a, b, m, n, k);
    }
}
