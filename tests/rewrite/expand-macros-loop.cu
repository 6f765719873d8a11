// A loop behind a macro, one macro in another's arguments, a literal that looks like a call.
// transform: expand-macros 0
// applies: line 15
// has: for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x) {
// has: out[i] = ((in[i]) > (((d) > (1) ? (d) : (1))) ? (in[i]) : (((d) > (1) ? (d) : (1))));
// has: // not LARGER(i, d)
// has: printf("LARGER(%d, 1)", i);
#include <cstdio>

#define KERNEL_LOOP(i, n)                                       \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); \
         i += blockDim.x * gridDim.x)
#define LARGER(a, b) ((a) > (b) ? (a) : (b))

__global__ void work(float *out, const float *in, int n, int d)
{
    KERNEL_LOOP(i, n) {
        out[i] = LARGER(in[i], LARGER(d, 1)); // not LARGER(i, d)
        if (out[i] < 0)
            printf("LARGER(%d, 1)", i);
    }
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(out, in, n, d);
}
