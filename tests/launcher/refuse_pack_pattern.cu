// Other patterns than the pack itself are not expanded.
__global__ void k(int a, int b)
{
}
template <typename... Args> static void start(cudaStream_t stream, Args... args)
{
    k<<<1, 1, 0, stream>>>((args + 1)...);
}
extern "C" void go(float *p, int n, cudaStream_t stream)
{
    start(stream, n, n);
}

// run: n=1
// error 7:38 only a parameter pack's name, a cast or std::forward of it, is expanded here
