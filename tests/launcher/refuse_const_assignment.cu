__global__ void k(int n)
{
}

extern "C" void go(float *p, const int n, cudaStream_t stream)
{
    constexpr int block = 32;
    if (n == 1)
        block = 64;
    k<<<1, block, 0, stream>>>(n);
    n = 4;
}

// run: n=1
// error 9:15 an assignment to a constant
// run: n=2
// error 11:7 an assignment to a constant
