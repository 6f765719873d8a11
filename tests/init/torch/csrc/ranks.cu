// A wrapper for tensors of several ranks, whose dispatch macros call lambdas; two kernels of one name; a lambda
// of the device; a function that reads the environment.
#include "dispatch.h"
#include <cstdlib>
#include <type_traits>

#define TINY_RANK(RANK, ...)                 \
    [&] {                                    \
        switch (RANK) {                      \
        case 2: {                            \
            constexpr int rank = 2;          \
            __VA_ARGS__();                   \
            break;                           \
        }                                    \
        case 3: {                            \
            constexpr int rank = 3;          \
            __VA_ARGS__();                   \
            break;                           \
        }                                    \
        default:                             \
            TORCH_CHECK(false, "rank");      \
        }                                    \
    }()

#define TABLE_BEGIN(type, name, size) static const __device__ type name[size] = {
#define TABLE_END() };
TABLE_BEGIN(float, table, 4)
    0.5f, 1.0f, 2.0f, 4.0f,
TABLE_END()

inline bool is_slow()
{
    static bool cached = getenv("TINY_SLOW") != nullptr;
    return cached;
}

template <typename T>
struct Packed;
template <>
struct Packed<half> {
    using type = half2;
};
template <>
struct Packed<c10::Half> {
    using type = half2;
};

template <typename F>
__device__ void each(int n, F f)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        f(i);
}

template <typename T, int RANK>
__global__ std::enable_if_t<std::is_pod_v<T> && RANK == 9> scale_kernel(T *out, const T *in, int64_t outer, int hidden)
{
    out[0] = in[0];
}

template <typename T, int RANK>
__global__ std::enable_if_t<RANK != 9> scale_kernel(T *out, const T *in, int64_t outer, int hidden)
{
    static_assert(sizeof(typename Packed<T>::type) == 4);
    const T *row = in + blockIdx.x * hidden;
    T *to = out + blockIdx.x * hidden;

    each(hidden, [=] __device__(int i) { to[i] = static_cast<T>(static_cast<float>(row[i]) * table[i % 4]); });
}

void scale(torch::Tensor &out, torch::Tensor &in) // [..., hidden]
{
    int hidden = in.size(-1);
    int num_rows = in.numel() / hidden;
    int ranks = in.dim();
    int64_t outer = ranks >= 3 ? in.size(-3) : 0;
    int vec = 16 / at::elementSize(in.scalar_type());

    if (hidden % vec == 0 && !is_slow()) {
        TINY_RANK(ranks, [&] {
            TINY_DISPATCH(in.scalar_type(), "scale", [&] {
                scale_kernel<scalar_t, rank><<<num_rows, 32>>>(out.data_ptr<scalar_t>(), in.data_ptr<scalar_t>(),
                                                                outer, hidden);
            });
        });
    } else
        at::mul_out(out, in, in);
}
