// typedef and using, at file scope and inside, also of parameter types.
#include <cuda_fp16.h>
#include <cstdint>

typedef __half element;
using index_t = std::int64_t;
using Pointer = const element *;
template <typename T> using Buffer = T *;

__global__ void k(Pointer in, Buffer<element> out, index_t n, unsigned m)
{
}

extern "C" void go(element *out, const half *in, index_t n, cudaStream_t s)
{
    using wide = unsigned long long;
    typedef unsigned narrow;
    Pointer from = in + 2;
    k<<<1, 1, sizeof(wide) * 4, s>>>(from, out, n * 2, narrow(n));
}

// run: n=5000000000
// launch k (1,1,1) (1,1,1) 32 [in+4, out, 10000000000:i64, 705032704:u32]
