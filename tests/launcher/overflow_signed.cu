// Signed overflow is undefined in C++, so it is an error here.
__global__ void k(int n)
{
}

extern "C" void go(float *p, int rows, int d, cudaStream_t stream)
{
    int total = rows * d;
    k<<<1, 1, 0, stream>>>(total);
}

// run: rows=65535 d=32767
// launch k (1,1,1) (1,1,1) 0 [2147385345:i32]
// run: rows=65535 d=65536
// error 8:22 65535 * 65536 overflows int; compute in a wider type
