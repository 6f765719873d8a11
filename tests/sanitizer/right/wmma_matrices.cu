// Fragments from global and padded shared memory, by rows and by columns, with a bias read at a stride of 0, rows of a
// tile that are undefined and never stored, and work on the elements before the product and after it: whole numbers, whose
// sums are exact in any order.
// buffer: out f32 512 out
// buffer: in f16 256 in
// buffer: bias f32 16 in
// launch: kernel grid 2 block 64 args out in bias
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void kernel(float *out, const __half *in, const float *bias)
{
    __shared__ alignas(32) __half tile[2][16][24];
    __shared__ alignas(32) float staged[2][16][20];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = lane; i < 8 * 16; i += 32) // the lower half stays as it is
        tile[warp][i / 16][i % 16] = in[warp * 128 + i];
    __syncwarp();
    wmma::load_matrix_sync(c, bias, 0, wmma::mem_row_major);
    wmma::load_matrix_sync(a, &tile[warp][0][0], 24);
    wmma::load_matrix_sync(b, in, 16);
    for (int i = 0; i < a.num_elements; i++)
        a.x[i] = __float2half(rintf(4.0f * __half2float(a.x[i])));
    for (int i = 0; i < b.num_elements; i++)
        b.x[i] = __float2half(rintf(4.0f * __half2float(b.x[i])));
    for (int i = 0; i < c.num_elements; i++)
        c.x[i] = rintf(4.0f * c.x[i]);
    wmma::mma_sync(c, a, b, c);
    for (int i = 0; i < c.num_elements; i++)
        c.x[i] = c.x[i] > 0.0f ? c.x[i] : 0.01f * c.x[i];
    wmma::store_matrix_sync(&staged[warp][0][0], c, 20, wmma::mem_row_major);
    __syncwarp();
    for (int i = lane; i < 8 * 16; i += 32)
        out[blockIdx.x * 256 + warp * 128 + i] = staged[warp][i / 16][i % 16];
}
