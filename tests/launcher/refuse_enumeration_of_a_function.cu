// An enumeration with a name belongs outside of functions.
__global__ void k(float *a)
{
}

extern "C" void go(float *out, int rows, cudaStream_t stream)
{
    enum Side { LEFT, RIGHT };
    k<<<RIGHT, 32, 0, stream>>>(out);
}

// run: rows=5
// error 8:5 declare it outside of functions
