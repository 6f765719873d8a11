// Two kernels of one name cannot be told apart by a name expression.
__global__ void k(float *p)
{
}
__global__ void k(double *p)
{
}

extern "C" void go(float *p, cudaStream_t stream)
{
    k<<<1, 1, 0, stream>>>(p);
}

// run:
// error 11:5 2 kernels are called k; give each its own name
