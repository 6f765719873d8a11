// An address rounded up and turned back into a pointer stays in its buffer.
#include <cstdint>

__global__ void k(float *p)
{
}

extern "C" void go(float *p, cudaStream_t stream)
{
    uintptr_t address = (uintptr_t)p;
    address = (address + 255) & ~uintptr_t(255);
    k<<<1, 1, 0, stream>>>(reinterpret_cast<float *>(address));
}

// run:
// launch k (1,1,1) (1,1,1) 0 [p]
// run: p@8
// launch k (1,1,1) (1,1,1) 0 [p+248]
