// Pointers to this file's vector templates: their size makes the arithmetic.
#include <cuda_fp16.h>

template <typename T, int N> struct __align__(sizeof(T) * N) Pack {
    T elem[N];
    __device__ T sum() const
    {
        return elem[0];
    }
};
using Half8 = Pack<__half, 8>;

template <typename V> __global__ void k(const V *in, int n)
{
}

extern "C" void go(const __half *in, int n, cudaStream_t stream)
{
    const Half8 *packs = reinterpret_cast<const Half8 *>(in);
    k<<<1, 32, sizeof(Half8), stream>>>(packs + n, n);
    k<Pack<float, 2>><<<1, 32, 0, stream>>>((const Pack<float, 2> *)in, n);
}

// run: n=3
// launch k<Pack<__half, 8>> (1,1,1) (32,1,1) 16 [in+48, 3:i32]
// launch k<Pack<float, 2>> (1,1,1) (32,1,1) 0 [in, 3:i32]
