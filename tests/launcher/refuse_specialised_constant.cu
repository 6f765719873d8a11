// Which value it has depends on what is not read.
template <typename T> constexpr int width = 4;
template <> constexpr int width<float> = 8;

__global__ void k(float *p)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    k<<<n, width<double>, 0, stream>>>(p);
}

// run: n=1
// error 11:12 width has specialisations or other declarations, which are not understood
