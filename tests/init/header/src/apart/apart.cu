// The header beside it, which is not the one of include/tiny.
#include "activation.cuh"

__global__ void double_all(float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = twice(x[i]);
}
