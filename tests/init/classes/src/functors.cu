#include "functors.h"

using tiny::funcs::combine;
using tiny::funcs::Op;

template <typename T> __global__ void combine_rows(T *out, const T *a, const T *b, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = combine<T, Op::kTwice>(a[i], b[i]);
}

void launch_combine(float *out, const float *a, const float *b, int n, cudaStream_t stream)
{
    combine_rows<float><<<(n + 127) / 128, 128, 0, stream>>>(out, a, b, n);
}
