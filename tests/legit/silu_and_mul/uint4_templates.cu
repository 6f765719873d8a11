// expect: correct
// Vectors of a template's width, by dispatch.
#include <cuda_fp16.h>
#include <cstdint>
#include <type_traits>

namespace act {

template <typename T, int N>
struct alignas(sizeof(T) * N) Vec {
    T data[N];
    __device__ T &operator[](int i) { return data[i]; }
    __device__ const T &operator[](int i) const { return data[i]; }
};

struct Silu {
    __device__ __forceinline__ float operator()(float x) const { return x * __frcp_rn(1.0f + __expf(-x)); }
};

template <class Act, int VEC, bool EVEN>
__global__ void act_and_mul(half *__restrict__ out, const half *__restrict__ in, int d)
{
    using V = Vec<half, VEC>;
    Act act;
    const int64_t token = blockIdx.x;
    const half *x = in + token * 2 * d;
    const half *y = x + d;
    half *o = out + token * d;
    for (int i = threadIdx.x; i < d / VEC; i += blockDim.x) {
        V a = reinterpret_cast<const V *>(x)[i];
        V b = reinterpret_cast<const V *>(y)[i];
        V r;
#pragma unroll
        for (int k = 0; k < VEC; ++k)
            r[k] = __float2half(act(__half2float(a[k])) * __half2float(b[k]));
        reinterpret_cast<V *>(o)[i] = r;
    }
    if constexpr (!EVEN) {
        for (int i = d / VEC * VEC + threadIdx.x; i < d; i += blockDim.x)
            o[i] = __float2half(act(__half2float(x[i])) * __half2float(y[i]));
    }
}

template <int VEC>
void launch(half *out, const half *in, int rows, int d, cudaStream_t stream)
{
    int threads = d / VEC < 1024 ? ((d / VEC + 31) / 32) * 32 : 1024;
    if (threads == 0)
        threads = 32;
    act_and_mul<Silu, VEC, true><<<rows, threads, 0, stream>>>(out, in, d);
}

} // namespace act

extern "C" void silu_and_mul(half *out, const half *in, int rows, int d, cudaStream_t stream)
{
    auto aligned = [&](int bytes) {
        return (reinterpret_cast<uintptr_t>(out) % bytes == 0) && (reinterpret_cast<uintptr_t>(in) % bytes == 0) &&
               (d * sizeof(half)) % bytes == 0;
    };
    if (aligned(16))
        act::launch<8>(out, in, rows, d, stream);
    else if (aligned(8))
        act::launch<4>(out, in, rows, d, stream);
    else if (aligned(4))
        act::launch<2>(out, in, rows, d, stream);
    else
        act::launch<1>(out, in, rows, d, stream);
}
