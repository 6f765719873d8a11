// Traits: constants of a struct through an alias, a template's parameter, a parameter that is a type; an enumerator
// as a struct's template argument.
#include <cuda_fp8.h>

enum class Mode { Plain, Fast };

template <int THREADS_, int ITEMS_ = 4> struct Traits {
    static constexpr int THREADS = THREADS_;
    static constexpr int ITEMS = ITEMS_;
    static constexpr int TILE = THREADS * ITEMS;
};
using Wide = Traits<256>;

template <Mode M> struct Functor {
    float x;
};

template <typename T, typename F> __global__ void k(float *p, __nv_fp8x4_e4m3 *q, int n, F f)
{
}

template <typename Given> static void with(float *p, int n, cudaStream_t stream)
{
    using Own = Traits<Given::THREADS / 2, 8>;
    k<Own, Functor<Mode::Fast>><<<(n + Own::TILE - 1) / Own::TILE, Own::THREADS, 0, stream>>>(
        p, reinterpret_cast<__nv_fp8x4_e4m3 *>(p) + 1, Given::TILE, Functor<Mode::Fast>{2.0f});
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    with<Wide>(p, n, stream);
}

// run: n=1025
// launch k<Traits<128, 8>, Functor<(Mode)1>> (2,1,1) (128,1,1) 0 [p, p+4, 1024:i32, {4 @0=2:f32}]
