// ?: has the common type of both branches and evaluates one.
__global__ void k(double a, unsigned b, int c)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    auto mixed = n > 4 ? 1 : 2.5;
    auto sign = n > 4 ? -1 : 1u;
    k<<<1, 1, 0, stream>>>(mixed / 2, sign, n == 0 ? 0 : 100 / n);
}

// run: n=0
// launch k (1,1,1) (1,1,1) 0 [1.25:f64, 1:u32, 0:i32]
// run: n=5
// launch k (1,1,1) (1,1,1) 0 [0.5:f64, 4294967295:u32, 20:i32]
