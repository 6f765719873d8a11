// auto x = {3} is a list in C++, auto x{3} an int.
__global__ void k(int n)
{
}

extern "C" void go(float *p, cudaStream_t stream)
{
    auto one{3};
    k<<<1, 1, 0, stream>>>(one);
    auto list = {3};
    k<<<1, 1, 0, stream>>>(4);
}

// run:
// error 10:10 auto list = {...} is a std::initializer_list; write its type
