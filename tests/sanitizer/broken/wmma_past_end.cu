// The matrix has 20 columns: the second tile of 16 ends beyond the buffer.
// buffer: out f32 256 out
// buffer: in f16 320 in
// launch: kernel grid 1 block 32 args out in
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void kernel(float *out, const __half *in)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    for (int k = 0; k < 32; k += 16) {
        wmma::load_matrix_sync(a, in + k, 16);
        wmma::load_matrix_sync(b, in + k * 16, 16); // expect: unsafe out-of-bounds
        wmma::mma_sync(c, a, b, c);
    }
    wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
}
