// The toolkit's min begins with int.
__global__ void k(unsigned long n)
{
}
static short one(short s)
{
    return s;
}

extern "C" void go(int n, cudaStream_t stream)
{
    k<<<1, 1, 0, stream>>>(sizeof(min(one(1), one(2))));
}

// run: n=3
// launch k (1,1,1) (1,1,1) 0 [4:u64]
