// Rows of the tile that nobody wrote are multiplied, and their sums go to the output.
// buffer: out f32 256 out
// buffer: in f16 256 in
// launch: kernel grid 1 block 32 args out in
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void kernel(float *out, const __half *in)
{
    __shared__ alignas(32) __half s[16 * 16];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    for (int i = threadIdx.x; i < 12 * 16; i += 32)
        s[i] = in[i];
    __syncwarp();
    wmma::fill_fragment(c, 0.0f);
    wmma::load_matrix_sync(a, s, 16);
    wmma::load_matrix_sync(b, in, 16);
    wmma::mma_sync(c, a, b, c);
    for (int i = 0; i < c.num_elements; i++)
        c.x[i] *= 2.0f;
    wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major); // expect: unsafe uninitialised
}
