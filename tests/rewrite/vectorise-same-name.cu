// The launcher calls its own type as the kernel its parameter: the copy stays a template of it.
// transform: vectorise 16
// applies: line 11
// has: packed<scalar_t, 8> out_v
// lacks: packed<__half
#include <cstdint>
#include <cuda_fp16.h>

template <typename scalar_t> __global__ void twice(scalar_t *out, const scalar_t *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] + in[i];
}

extern "C" void entry(__half *out, const __half *in, int n, cudaStream_t stream)
{
    using scalar_t = __half;
    twice<scalar_t><<<(n + 255) / 256, 256, 0, stream>>>(out, in, n);
}
