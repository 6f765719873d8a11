// The sums begin with a tile of shared memory that nobody wrote.
// buffer: out f32 256 out
// buffer: in f16 256 in
// launch: kernel grid 1 block 32 args out in
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void kernel(float *out, const __half *in)
{
    __shared__ alignas(32) float s[256];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::load_matrix_sync(a, in, 16);
    wmma::load_matrix_sync(b, in, 16);
    wmma::load_matrix_sync(c, s, 16, wmma::mem_col_major);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major); // expect: unsafe uninitialised
}
