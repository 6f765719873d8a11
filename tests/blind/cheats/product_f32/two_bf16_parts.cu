// WRONG: each float is two bf16 parts (16 bits) on tensor cores, the product of the low parts left out: some 2^-16 of a term everywhere, where floats have 2^-24.
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void product_kernel(float *c, const float *a, const float *b, const float *bias, int m, int n, int k)
{
    __shared__ __nv_bfloat16 ah[32][24], al[32][24], bh[16][72], bl[16][72];
    __shared__ float out[32][72];
    int t = threadIdx.x, warp = t / 32, row0 = blockIdx.y * 32, col0 = blockIdx.x * 64;
    int wr = warp / 4 * 16, wc = warp % 4 * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.f);
    for (int k0 = 0; k0 < k; k0 += 16) {
        for (int i = t; i < 32 * 16; i += 256) {
            int r = row0 + i / 16, q = k0 + i % 16;
            float x = r < m && q < k ? a[(long long)r * k + q] : 0.f;
            __nv_bfloat16 h = __float2bfloat16(x);
            ah[i / 16][i % 16] = h;
            al[i / 16][i % 16] = __float2bfloat16(x - __bfloat162float(h));
        }
        for (int i = t; i < 16 * 64; i += 256) {
            int q = k0 + i / 64, x0 = col0 + i % 64;
            float x = q < k && x0 < n ? b[(long long)q * n + x0] : 0.f;
            __nv_bfloat16 h = __float2bfloat16(x);
            bh[i / 64][i % 64] = h;
            bl[i / 64][i % 64] = __float2bfloat16(x - __bfloat162float(h));
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fh, fl;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> gh, gl;
        wmma::load_matrix_sync(fh, &ah[wr][0], 24);
        wmma::load_matrix_sync(fl, &al[wr][0], 24);
        wmma::load_matrix_sync(gh, &bh[0][wc], 72);
        wmma::load_matrix_sync(gl, &bl[0][wc], 72);
        wmma::mma_sync(acc, fh, gl, acc);
        wmma::mma_sync(acc, fl, gh, acc);
        wmma::mma_sync(acc, fh, gh, acc);
        __syncthreads();
    }
    wmma::store_matrix_sync(&out[wr][wc], acc, 72, wmma::mem_row_major);
    __syncthreads();
    for (int i = t; i < 32 * 64; i += 256) {
        int r = row0 + i / 64, x = col0 + i % 64;
        if (r < m && x < n) {
            float *at = c + (long long)r * n + x;
            *at = fmaxf(0.5f * out[i / 64][i % 64] + 0.25f * *at + bias[x], 0.0f);
        }
    }
}

extern "C" void product(float *c, const float *a, const float *b, const float *bias, int m, int n, int k,
                        cudaStream_t stream)
{
    product_kernel<<<dim3((n + 63) / 64, (m + 31) / 32), 256, 0, stream>>>(c, a, b, bias, m, n, k);
}
