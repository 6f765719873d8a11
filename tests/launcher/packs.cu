// Helpers that hand arguments on: packs by value, by reference, forwarded, empty.
#include <utility>

__global__ void none()
{
}
__global__ void one(float *p)
{
}
template <typename T> __global__ void three(T *p, int n, float s)
{
}

template <typename... KernelArgs, typename... Args>
static void start(void (*kernel)(KernelArgs...), dim3 grid, cudaStream_t stream, Args... args)
{
    kernel<<<grid, 64, 0, stream>>>(args...);
}

template <typename Kernel, typename... Args>
static cudaError_t forwarded(Kernel kernel, int blocks, cudaStream_t stream, Args &&...args)
{
    start(kernel, dim3(blocks, 2), stream, std::forward<Args>(args)...);
    return cudaGetLastError();
}

template <typename... Args> static void configured(cudaStream_t stream, float *first, const Args &...args)
{
    cudaLaunchConfig_t config = {dim3(7), dim3(32), 0, stream};
    cudaLaunchKernelEx(&config, three<float>, first, args...);
}

extern "C" void go(float *p, int n, float s, cudaStream_t stream)
{
    start(none, 1, stream);
    start(one, n, stream, p + 1);
    forwarded(three<float>, n, stream, p, n + 1, s * 2);
    configured(stream, p, n, 0.25f);
}

// run: n=5 s=1.5
// launch none (1,1,1) (64,1,1) 0 []
// launch one (5,1,1) (64,1,1) 0 [p+4]
// launch three<float> (5,2,1) (64,1,1) 0 [p, 6:i32, 3:f32]
// launch three<float> (7,1,1) (32,1,1) 0 [p, 5:i32, 0.25:f32]
