// C++17 evaluates the right side first, compilers differ.
__global__ void k(int a, int b)
{
}

extern "C" void go(int n, cudaStream_t stream)
{
    int v[4] = {}, i = 0;
    v[i] = ++i;
    k<<<1, 32, 0, stream>>>(v[0], v[1]);
}

// run: n=3
// error 9:10 the order of evaluation counts here
