// A macro takes the elements' addresses: a load instead of an element has none.
// transform: cache-hints -1
// leaves
#include <cstdint>

#define AS_FLOAT4(value) (reinterpret_cast<float4 *>(&(value))[0])
#define COPY(to, from) AS_FLOAT4(to) = AS_FLOAT4(from)

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
