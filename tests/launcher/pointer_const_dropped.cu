// What nvcc refuses is refused here too.
__global__ void k(float *p)
{
}

extern "C" void go(const float *p, cudaStream_t stream)
{
    k<<<1, 1, 0, stream>>>(p);
}

// run:
// error 8:28 const float * does not become float *: that drops the const
