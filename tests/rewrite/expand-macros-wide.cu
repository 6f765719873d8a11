// A macro that takes an address by another one.
// transform: expand-macros 0
// applies: line 10
// has: (reinterpret_cast<float4 *>(&(out[i]))[0]) = (reinterpret_cast<float4 *>(&(in[i]))[0]);
#include <cstdint>

#define WIDE(value) (reinterpret_cast<float4 *>(&(value))[0])
#define COPY(to, from) WIDE(to) = WIDE(from)

__global__ void work(float *out, float *in, int n, int d)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        COPY(out[i], in[i]);
}

extern "C" void entry(float *out, float *in, int n, int d, cudaStream_t stream)
{
    work<<<(n / 4 + 127) / 128, 128, 0, stream>>>(out, in, n, d);
}
