__global__ void k(const int *p)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    int table[2] = {1, 2};
    if (n == 1)
        k<<<1, 1, 0, stream>>>(table);
    k<<<1, 1, 0, stream>>>(&n);
}

// run: n=1
// error 9:32 argument 1 of kernel k is the address of a host variable
// run: n=2
// error 10:28 argument 1 of kernel k is the address of a host variable
