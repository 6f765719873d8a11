__global__ void k(int n)
{
}

extern "C" void go(float *p, int rows, int d, cudaStream_t stream)
{
    k<<<rows / d, 128, 0, stream>>>(rows % (d + 1));
}

// run: rows=8 d=4
// launch k (2,1,1) (128,1,1) 0 [3:i32]
// run: rows=8 d=0
// error 7:14 division by zero: 8 / 0
