// g++ makes -x of 0 - x where x was an integer, and so -0 of 0.
__global__ void k(float a)
{
}

extern "C" void go(int n, cudaStream_t stream)
{
    const float zero = 0;
    k<<<1, 32, 0, stream>>>(n > 2 ? n - 3.f : zero - (float)n);
}

// run: n=3
// launch k (1,1,1) (32,1,1) 0 [0:f32]
// run: n=2
// launch k (1,1,1) (32,1,1) 0 [-2:f32]
// run: n=0
// error 9:52 compilers differ in the sign of this zero
