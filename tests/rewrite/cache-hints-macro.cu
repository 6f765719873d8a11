// A macro that only adds: the element is a value there.
// transform: cache-hints 1
// applies: line 10
// has: ADD(__ldcs(&in[i]), d)
#include <cstdint>

#define AT_LEAST(a, b) ((a) >= (b) ? (a) : (b))
#define ADD(a, b) AT_LEAST((a) + (b), 0)

__global__ void work(float *out, const float *in, int n, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = ADD(in[i], d);
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(out, in, n, d);
}
