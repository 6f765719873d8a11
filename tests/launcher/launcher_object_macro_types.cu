// Types and qualifiers behind macros, attributes, restrict, launch bounds with commas, comments in odd places.
#define API extern "C"
#include <cstdint>

#define RESTRICT __restrict__
#define scalar_t float
#define KERNEL __global__ void __launch_bounds__(256, 2)

template <typename T, int N>
KERNEL k(const T *RESTRICT in, T *RESTRICT /* out */ out, const int64_t n)
{
}

API [[gnu::used]] __attribute__((visibility("default"))) void go(scalar_t *RESTRICT out, const scalar_t *RESTRICT in,
                                                               const int n, cudaStream_t stream)
{
    const int threads = 256, /* of a block */ blocks = (n + threads - 1) / threads;
    if (blocks <= 0) return; // nothing to do
    k<scalar_t, 4>
        <<<blocks,
           threads, 0 /* shared */, stream>>>
        (in, out, n);
}

// run: n=1000
// launch k<float, 4> (4,1,1) (256,1,1) 0 [in, out, 1000:i64]
// run: n=0
// nothing
