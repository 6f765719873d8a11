// Addresses serve alignment tests only; they do not come from nowhere.
#include <cstdint>
__global__ void k(float *p)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    k<<<1, 1, 0, stream>>>((float *)(uintptr_t)n);
}

// run: n=4096
// error 9:28 a pointer made of a number that did not come from a pointer
