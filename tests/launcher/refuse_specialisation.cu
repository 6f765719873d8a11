// A specialised host template would need the rules of partial ordering; overloads and if constexpr do not.
template <typename T> constexpr int width()
{
    return 1;
}
template <> constexpr int width<float>()
{
    return 4;
}
__global__ void k(int n)
{
}

extern "C" void go(float *p, cudaStream_t stream)
{
    k<<<1, 1, 0, stream>>>(width<double>());
}

// run:
// error 16:28 width has specialisations, which are not understood
