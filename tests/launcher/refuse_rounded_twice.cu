// The compiler rounds what it knows to the nearest number; the C library is an ulp off.
#include <cmath>

__global__ void k(double a, float b, double c)
{
}

extern "C" void go(int n, cudaStream_t stream)
{
    k<<<1, 32, 0, stream>>>(std::exp(1.0), sqrtf(2.0f), std::pow(2.0, n) + (n > 3 ? tanh(0.125) : 0.));
}

// run: n=3
// launch k (1,1,1) (32,1,1) 0 [2.71828183:f64, 1.41421354:f32, 8:f64]
// run: n=4
// error 10:85 tanh of these arguments is rounded in one way by the compiler and in another by the C library
