// Guards around constants of math.h, which nvcc's cuda_runtime.h includes: the header's value stands.
#include <cmath>

#ifndef M_PI
#define M_PI 3.0
#endif
#if !defined(M_LN10)
#define M_LN10 7
#endif

__global__ void k(double a, double b)
{
}

extern "C" void go(int n, cudaStream_t s)
{
    k<<<n, 32, 0, s>>>(M_PI, M_LN10);
}

// run: n=4
// launch k (4,1,1) (32,1,1) 0 [3.14159265:f64, 2.30258509:f64]
