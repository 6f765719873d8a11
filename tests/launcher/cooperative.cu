// cudaLaunchCooperativeKernel takes addresses of the arguments.
template <typename T> __global__ void k(T *p, const float *q, int n, float s)
{
}

extern "C" cudaError_t go(float *p, const float *q, int n, float s, cudaStream_t stream)
{
    float *shifted = p + n;
    void *args[] = {&shifted, (void *)&q, &n, &s};
    dim3 grid(2), block(64);
    cudaError_t e = cudaLaunchCooperativeKernel((void *)k<float>, grid, block, args, 1024, stream);
    if (e != cudaSuccess)
        return e;
    void *more[4];
    more[0] = &p, more[1] = &q, more[2] = args[2], more[3] = args[3];
    return cudaLaunchKernel((const void *)&k<float>, grid, 32, more, 0, stream);
}

// run: n=8 s=0.5
// cooperative k<float> (2,1,1) (64,1,1) 1024 [p+32, q, 8:i32, 0.5:f32]
// launch k<float> (2,1,1) (32,1,1) 0 [p, q, 8:i32, 0.5:f32]
