// && and || leave the right side alone when the left decides.
__global__ void k(int a, int b)
{
}

extern "C" void go(float *p, int n, int d, cudaStream_t stream)
{
    bool even = d != 0 && n % d == 0;
    bool any = d == 0 || n / d > 2;
    k<<<1, 1, 0, stream>>>(even, !any);
}

// run: n=8 d=0
// launch k (1,1,1) (1,1,1) 0 [0:i32, 0:i32]
// run: n=8 d=4
// launch k (1,1,1) (1,1,1) 0 [1:i32, 1:i32]
