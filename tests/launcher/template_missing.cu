template <typename T, int N> __global__ void k(T *p)
{
}

extern "C" void go(float *p, cudaStream_t stream)
{
    k<<<1, 1, 0, stream>>>(p);
}

// run:
// error 7:5 the template argument N of kernel k is neither given nor told by the arguments
