// #elifdef is C++23's.
#if 0
#elifdef __x86_64__
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

// open-error 3:2 #elifdef is read by some compilers only; write #elif defined(...)
