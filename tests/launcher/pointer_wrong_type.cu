#include <cuda_fp16.h>

__global__ void k(const float *p)
{
}

extern "C" void go(const __half *p, cudaStream_t stream)
{
    k<<<1, 1, 0, stream>>>(p);
}

// run:
// error 9:28 const __half * does not become const float * without a cast
