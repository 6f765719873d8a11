// The staged tile is read by lanes other than those that stored it, without a __syncwarp.
// buffer: out f32 256 out
// buffer: in f16 256 in
// launch: kernel grid 1 block 32 args out in
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void kernel(float *out, const __half *in)
{
    __shared__ alignas(32) float s[256];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    wmma::load_matrix_sync(a, in, 16);
    wmma::load_matrix_sync(b, in, 16);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(s, c, 16, wmma::mem_row_major); // expect: unsafe race-shared
    for (int i = threadIdx.x; i < 64; i += 32)
        ((float4 *)out)[i] = ((const float4 *)s)[i]; // expect: unsafe race-shared
}
