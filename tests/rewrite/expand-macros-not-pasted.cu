// It pastes names, quotes, has two meanings or is open at its end: each stays. One that only adds hides nothing.
// transform: expand-macros 0
// leaves
#include <cstdio>

#define STORE(kind, at, value) (*(float##kind *)&(at) = make_float4(value, 0, 0, 0))
#define TOLD(value) printf("%s %p", #value, &(value))
#define ALL(...) ((void)&(__VA_ARGS__))
#ifdef NEVER
#define TWICE(value) (&(value))
#else
#define TWICE(value) (*&(value))
#endif
#define ADD(a, b) ((a) + (b))

__global__ void work(float *out, float *in, int n, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    STORE(4, out[4 * i], ADD(TWICE(in[i]), d));
    TOLD(in[i]);
    ALL(in[i]);
}

extern "C" void entry(float *out, float *in, int n, int d, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(out, in, n, d);
}
