// A pack's elements in an operator.
template <typename... Args> static int sum(Args... args)
{
    return (args + ...);
}
__global__ void k(int n)
{
}

extern "C" void go(int n, cudaStream_t stream)
{
    k<<<1, 1, 0, stream>>>(sum(n, 1));
}

// run: n=3
// error 4:20 a fold expression is not understood; write functions that take the arguments one by one
