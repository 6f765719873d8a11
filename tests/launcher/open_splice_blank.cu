// A comment that g++ continues on the next line.
__global__ void k(float *p)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    // nothing here \ 
    return;
    k<<<n, 128, 0, stream>>>(p);
}

// open-error 8:21 blanks between a backslash and the end of its line
