// Arguments that vary under a name, as gcc and nvcc have them.
template <typename T> __global__ void k(const T *p, int n)
{
}

#define LAUNCH(grid, ARGS...) k<float><<<grid, 32, 0, stream>>>(ARGS)

extern "C" void go(const float *p, int n, int v, cudaStream_t stream)
{
    LAUNCH(n / v, p, n);
}

// run: n=64 v=2
// launch k<float> (32,1,1) (32,1,1) 0 [p, 64:i32]
