// A sign in two halves, which g++ joins.
__global__ void k(float *p)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    k<<<n-\
-, 128, 0, stream>>>(p);
}

// open-error 8:11 a backslash joins what could be one word or sign
