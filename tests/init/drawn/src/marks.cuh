// What a build for a GPU switches on, by names that nothing here defines.
#pragma once

#if defined(BUILT_WITH_KERNELS) || defined(BUILT_FOR_OTHERS)
#define ON_BOTH __device__
#else
#define ON_BOTH
#endif

namespace drawn {

template <typename T>
struct is_plain {
    static constexpr bool value = false;
};
template <>
struct is_plain<float> {
    static constexpr bool value = true;
};

template <typename T>
concept Plain = is_plain<T>::value;

template <Plain T>
ON_BOTH T thrice(T x)
{
    return x + x + x;
}

template <typename T>
inline __host__ __device__ T parts_of(T n, T part)
{
    return (n + part - 1) / part;
}

} // namespace drawn
