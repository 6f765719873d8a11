// A macro of the toolkit asked for.
#if CUDART_VERSION >= 12000
#define BLOCK 128
#else
#define BLOCK 64
#endif
__global__ void k(float *p)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    k<<<n, BLOCK, 0, stream>>>(p);
}

// open-error 2:5 a condition asks for CUDART_VERSION
