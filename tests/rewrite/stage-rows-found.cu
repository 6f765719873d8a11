// Where in the row is known from what the variable is given; bytes lie a word apart.
// transform: stage-rows 0
// applies: line 16
// has: __shared__ signed char in_rows[128 * 28];
// has: in_rows[threadIdx.x * 28 + best]
#include <cuda_runtime.h>

__global__ void work(int *out, const signed char *in, long long n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int best = 0;
    for (int k = 1; k < 24; k++)
        if (k % 2)
            best = in[i * 24 + k] > in[i * 24 + best] ? k : best;
    out[i] = best;
}

extern "C" void entry(int *out, const signed char *in, int n, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(out, in, n);
}
