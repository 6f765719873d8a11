// expect: correct
// The activation as a functor, a template's argument.
#include <cstdint>
#include <cuda_fp16.h>
template <typename T> struct Convert;
template <> struct Convert<__half> {
    static __device__ float up(__half h) { return __half2float(h); }
    static __device__ __half down(float f) { return __float2half(f); }
};
template <template <class> class C, class T, int... S> struct Chain {
    static constexpr int count = sizeof...(S);
    static __device__ void run(T *o, const T *x, const T *g, int i)
    {
        ((o[i + S] = C<T>::down(C<T>::up(x[i + S]) / (1.0f + expf(-C<T>::up(x[i + S]))) * C<T>::up(g[i + S]))), ...);
    }
};
__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    const __half *x = in + (int64_t)blockIdx.x * 2 * d;
    __half *o = out + (int64_t)blockIdx.x * d;
    using Four = Chain<Convert, __half, 0, 1, 2, 3>;
    using One = Chain<Convert, __half, 0>;
    int i = threadIdx.x * Four::count;
    for (; i + Four::count <= d; i += blockDim.x * Four::count)
        Four::run(o, x, x + d, i);
    for (; i < d; i++)
        One::run(o, x, x + d, i);
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 128, 0, stream>>>(out, in, rows, d);
}
