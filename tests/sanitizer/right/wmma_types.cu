// Fragments of every type but half: bf16, tf32, doubles, bytes, nibbles, single bits. All of whole numbers, whose sums are
// exact in any order.
// buffer: out f32 512 out
// buffer: outd f64 64 out
// buffer: outi i32 320 out
// buffer: f f32 128 in
// buffer: d f64 32 in
// buffer: b bf16 256 in
// buffer: i u8 256 in
// launch: kernel grid 1 block 32 args out outd outi f d b i
#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;
using namespace wmma::experimental;

__device__ __nv_bfloat16 whole(__nv_bfloat16 x) { return __float2bfloat16(rintf(4.0f * __bfloat162float(x))); }
__device__ unsigned char whole(unsigned char x) { return x; }
__device__ float whole(float x) { return wmma::__float_to_tf32(rintf(4.0f * x)); }
__device__ double whole(double x) { return rint(4.0 * x); }

template <class F> __device__ void make_whole(F &fragment)
{
    for (int e = 0; e < fragment.num_elements; e++)
        fragment.x[e] = whole(fragment.x[e]);
}

template <class A, class B, class C, class D, class E>
__device__ void product(D *out, const E *in, C zero, int k, int n)
{
    A a;
    B b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, C> c;
    wmma::fill_fragment(c, zero);
    wmma::load_matrix_sync(a, in, k);
    wmma::load_matrix_sync(b, in, k);
    make_whole(a);
    make_whole(b);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(out, c, n, wmma::mem_row_major);
}

extern "C" __global__ void kernel(float *out, double *outd, int *outi, const float *f, const double *d, const __nv_bfloat16 *b, const unsigned char *i)
{
    product<wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major>,
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major>>(out, b, 0.0f, 16, 16);
    product<wmma::fragment<wmma::matrix_a, 16, 16, 16, unsigned char, wmma::col_major>,
            wmma::fragment<wmma::matrix_b, 16, 16, 16, unsigned char, wmma::row_major>>(outi, i, 0, 16, 16);

    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> at;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> c;
    wmma::load_matrix_sync(a, f, 8);
    wmma::load_matrix_sync(at, f, 8);
    make_whole(a);
    make_whole(at);
    wmma::fill_fragment(c, 0.0f);
    wmma::mma_sync(c, a, at, c);
    wmma::store_matrix_sync(out + 256, c, 16, wmma::mem_col_major);

    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> ad;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> bd;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> cd;
    wmma::load_matrix_sync(ad, d, 4);
    wmma::load_matrix_sync(bd, d, 4);
    make_whole(ad);
    make_whole(bd);
    wmma::fill_fragment(cd, 0.0);
    wmma::mma_sync(cd, ad, bd, cd);
    wmma::store_matrix_sync(outd, cd, 8, wmma::mem_row_major);

    wmma::fragment<wmma::matrix_a, 8, 8, 32, precision::s4, wmma::row_major> a4;
    wmma::fragment<wmma::matrix_b, 8, 8, 32, precision::s4, wmma::col_major> b4;
    wmma::fragment<wmma::accumulator, 8, 8, 32, int> c4;
    wmma::fragment<wmma::matrix_a, 8, 8, 128, precision::b1, wmma::row_major> a1;
    wmma::fragment<wmma::matrix_b, 8, 8, 128, precision::b1, wmma::col_major> b1;
    wmma::fragment<wmma::accumulator, 8, 8, 128, int> c1;
    wmma::fill_fragment(c4, 0);
    wmma::fill_fragment(c1, 0);
    wmma::load_matrix_sync(a4, i, 32);
    wmma::load_matrix_sync(b4, i, 32);
    wmma::load_matrix_sync(a1, i, 128);
    wmma::load_matrix_sync(b1, i, 128);
    wmma::mma_sync(c4, a4, b4, c4);
    wmma::bmma_sync(c1, a1, b1, c1, bmmaBitOpXOR);
    wmma::bmma_sync(c1, a1, b1, c1, bmmaBitOpAND);
    for (int e = 0; e < c1.num_elements; e++)
        c1.x[e] += c4.x[e];
    wmma::store_matrix_sync(outi + 256, c1, 8, wmma::mem_row_major);
}
