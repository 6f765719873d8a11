// Two divisions in one, a rest of the inner one; the variables that nothing needs any more go.
// transform: simplify 0
// applies: line 17
// has: const int quotient = i / n;
// has: out[i] = in[quotient];
// lacks: token
// lacks: head =
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int token = i / (n * d);
    int head = i / n % d;
    if (i >= n)
        return;
    out[i] = in[token * d + head];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(out, in, n, d);
}
