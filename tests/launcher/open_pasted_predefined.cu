// A macro of the compiler, replaced before it is pasted.
#define CAT(a, b) a##b
#define XCAT(a, b) CAT(a, b)
__global__ void k(float *p)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    int v___GNUC__ = n, v_12 = 1;
    k<<<XCAT(v_, __GNUC__), 128, 0, stream>>>(p);
}

// open-error 11:18 ## takes __GNUC__, a macro of the compiler or of a header
