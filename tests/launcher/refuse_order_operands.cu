// C++ leaves open which operand comes first.
__global__ void k(int a)
{
}
static int bump(int &i)
{
    return ++i;
}

extern "C" void go(int n, cudaStream_t stream)
{
    int i = n;
    int sum = i + bump(i);
    k<<<1, 32, 0, stream>>>(sum);
}

// run: n=3
// error 13:17 the order of evaluation counts here
