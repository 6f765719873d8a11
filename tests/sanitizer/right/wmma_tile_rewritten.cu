// wmma.load is over for all lanes before any goes on: the same warp may write the tile without a __syncwarp.
// buffer: out f32 256 out
// buffer: in f16 256 in
// launch: kernel grid 1 block 32 args out in
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void kernel(float *out, const __half *in)
{
    __shared__ alignas(32) __half tile[256];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    int t = threadIdx.x;
    wmma::fill_fragment(c, 0.0f);
    ((uint4 *)tile)[t] = ((const uint4 *)in)[t];
    __syncwarp();
    wmma::load_matrix_sync(a, tile, 16);
    ((uint4 *)tile)[31 - t] = ((const uint4 *)in)[t];
    __syncwarp();
    wmma::load_matrix_sync(b, tile, 16);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
}
