constexpr int A = B + 1;
constexpr int B = A + 1;
__global__ void k(int n)
{
}

extern "C" void go(float *p, cudaStream_t stream)
{
    k<<<1, 1, 0, stream>>>(A);
}

// run:
// error 1:19 the name B is declared behind this place
