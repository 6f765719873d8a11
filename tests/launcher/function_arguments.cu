// Device functions as template arguments: the activations of libraries' kernels.
template <typename T> __device__ T twice(const T &x)
{
    return x + x;
}
__device__ float half_of(float x)
{
    return x / 2;
}
namespace maths
{
template <typename T, int N> __device__ T times(T x)
{
    return x * N;
}
} // namespace maths

template <typename T, T (*ACT)(const T &), int N> __global__ void by_reference(T *p)
{
}
template <float (*F)(float)> __global__ void plain(float *p)
{
}

template <float (*F)(float)> static void start(float *p, cudaStream_t stream)
{
    plain<F><<<1, 32, 0, stream>>>(p);
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    by_reference<float, twice<float>, 4><<<1, 64, 0, stream>>>(p);
    plain<&half_of><<<1, 64, 0, stream>>>(p);
    start<maths::times<float, 3>>(p, stream);
    if (n > 1)
        plain<half_of><<<n, 64, 0, stream>>>(p);
    if (n > 2)
        half_of<<<n, 64, 0, stream>>>(p);
}

// run: n=1
// launch by_reference<float, twice<float>, 4> (1,1,1) (64,1,1) 0 [p]
// launch plain<half_of> (1,1,1) (64,1,1) 0 [p]
// launch plain<maths::times<float, 3>> (1,1,1) (32,1,1) 0 [p]
// run: n=2
// launch by_reference<float, twice<float>, 4> (1,1,1) (64,1,1) 0 [p]
// launch plain<half_of> (1,1,1) (64,1,1) 0 [p]
// launch plain<maths::times<float, 3>> (1,1,1) (32,1,1) 0 [p]
// launch plain<half_of> (2,1,1) (64,1,1) 0 [p]
// run: n=3
// error 38:9 launcher: the function half_of is called or launched
