// A kernel's address may be null until one is chosen.
__global__ void wide(float *p, int n)
{
}
__global__ void narrow(float *p, int n)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    void (*kernel)(float *, int) = nullptr;
    if (n % 4 == 0)
        kernel = wide;
    else if (n > 2)
        kernel = narrow;
    if (kernel != nullptr && !(nullptr == kernel) && kernel)
        kernel<<<1, 32, 0, stream>>>(p, n);
    if (n == 1)
        kernel<<<1, 32, 0, stream>>>(p, n);
}

// run: n=8
// launch wide (1,1,1) (32,1,1) 0 [p, 8:i32]
// run: n=5
// launch narrow (1,1,1) (32,1,1) 0 [p, 5:i32]
// run: n=2
// nothing
// run: n=1
// error 19:9 a kernel's address that is null
