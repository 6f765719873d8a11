// Each half of the warp means its own matrix; a warp has one.
// buffer: out f32 512 out
// buffer: in f16 512 in
// launch: kernel grid 1 block 32 args out in
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void kernel(float *out, const __half *in)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    int tile = threadIdx.x / 16;
    wmma::fill_fragment(c, 0.0f);
    wmma::fill_fragment(b, __half(1.0f));
    wmma::load_matrix_sync(a, in + tile * 256, 16); // expect: unsafe divergent-barrier
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(out + tile * 256, c, 16, wmma::mem_row_major);
}
