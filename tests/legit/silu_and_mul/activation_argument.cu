// expect: correct
// The form of a serving stack's activation kernel: the activation is a template argument, vectors by a macro's
// dispatch.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstdint>
#define DISPATCH(V, ...)       \
    switch (V) {               \
    case 8: {                  \
        constexpr int VEC = 8; \
        __VA_ARGS__;           \
        break;                 \
    }                          \
    case 2: {                  \
        constexpr int VEC = 2; \
        __VA_ARGS__;           \
        break;                 \
    }                          \
    default: {                 \
        constexpr int VEC = 1; \
        __VA_ARGS__;           \
    }                          \
    }
template <typename T> __device__ __forceinline__ T gated_silu(const T &x, const T &gate)
{
    float f = (float)x;
    return (T)(f / (1.0f + expf(-f)) * (float)gate);
}
template <typename T, int N> struct alignas(sizeof(T) * N) vec {
    T v[N];
};
template <typename T, T (*ACT)(const T &, const T &), int VEC>
__global__ void act_and_mul_kernel(T *__restrict__ out, const T *__restrict__ in, const int d)
{
    const int64_t token = blockIdx.x;
    const T *a = in + token * 2 * d, *b = a + d;
    T *o = out + token * d;
    for (int64_t i = threadIdx.x * VEC; i < d; i += blockDim.x * VEC) {
        vec<T, VEC> x = *reinterpret_cast<const vec<T, VEC> *>(a + i),
                    y = *reinterpret_cast<const vec<T, VEC> *>(b + i), z;
#pragma unroll
        for (int k = 0; k < VEC; k++)
            z.v[k] = ACT(x.v[k], y.v[k]);
        *reinterpret_cast<vec<T, VEC> *>(o + i) = z;
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    dim3 grid(rows);
    int vec = d % 8 == 0 ? 8 : d % 2 == 0 ? 2 : 1;
    dim3 block(std::min(d / vec, 1024) < 1 ? 1 : std::min(d / vec, 1024));
    DISPATCH(vec, act_and_mul_kernel<__half, gated_silu<__half>, VEC><<<grid, block, 0, stream>>>(out, in, d));
}
