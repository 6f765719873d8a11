#include <cassert>
__global__ void k(int n)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    assert(n % 4 == 0);
    k<<<1, 1, 0, stream>>>(n);
}

// run: n=4
// launch k (1,1,1) (1,1,1) 0 [4:i32]
// run: n=5
// error 8:5 this assertion fails
