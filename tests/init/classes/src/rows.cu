#include <type_traits>

#include "tensor.h"

namespace tiny {

template <class T, int N> struct Pack {
    T v[N];
};

namespace ops {
template <class T, int N> __device__ Pack<T, N> operator*(const Pack<T, N> &a, const Pack<T, N> &b)
{
    Pack<T, N> c;
    TINY_UNROLL
    for (int i = 0; i < N; i++)
        c.v[i] = a.v[i] * b.v[i];
    return c;
}
} // namespace ops

template <bool Twice, class T, int N>
__global__ void scale_rows(T *out, const T *x, const T *scales, int width)
{
    using namespace ops;
    for (int i = threadIdx.x * N; i < width; i += blockDim.x * N) {
        Pack<T, N> a, b;
        TINY_UNROLL
        for (int k = 0; k < N; k++) {
            a.v[k] = x[blockIdx.x * width + i + k];
            b.v[k] = scales[i + k];
        }
        a = a * b;
        for (int k = 0; k < N; k++)
            out[blockIdx.x * width + i + k] = Twice ? a.v[k] + a.v[k] : a.v[k];
    }
}

void invokeScaleRows(Tensor &out, const Tensor &x, const Tensor &scales, bool twice, cudaStream_t st)
{
    if (x.size() == 0)
        return;
    TINY_CHECK(x.ndim() == 2);
    TINY_CHECK(out.shape() == x.shape());
    TINY_CHECK_EQ(scales.shape(0), x.shape(1));
    auto invoke = [&](auto t) {
        using T = decltype(t);
        constexpr int N = 16 / sizeof(T);
        const int rows = x.shape(0);
        const int width = x.shape(1);
        auto launch = [&](auto flag) {
            constexpr bool kTwice = decltype(flag)::value;
            scale_rows<kTwice, T, N><<<rows, 64, 0, st>>>((T *)out.raw_data(), (const T *)x.raw_data(),
                                                           (const T *)scales.raw_data(), width);
        };
        if (twice)
            launch(std::bool_constant<true>{});
        else
            launch(std::bool_constant<false>{});
    };
    TINY_DISPATCH(x.dtype(), invoke);
    TINY_CUDA_CHECK(cudaGetLastError());
}

} // namespace tiny
