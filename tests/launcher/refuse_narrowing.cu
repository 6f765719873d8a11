// What a type does not hold is no value for it in braces: nvcc refuses a constant, and only warns of others.
__global__ void k(int n)
{
}

extern "C" void go(int n, cudaStream_t stream)
{
    unsigned char small{(n)};
    k<<<1, 1, 0, stream>>>(small);
}

// run: n=255
// launch k (1,1,1) (1,1,1) 0 [255:i32]
// run: n=256
// error 8:24 a value that unsigned char does not hold, in braces
