#pragma once
#include <functional>
namespace tiny
{
namespace funcs
{
enum class Op { kAdd, kTwice };
#if defined(TINY_WITH_CUDA)
template <typename T, Op op> struct Functor;
#define BODY(...) __VA_ARGS__
#define SPECIALISE(T, OP, STATEMENTS, ARGS...)                                     \
    template <ARGS> struct Functor<T, OP> : public std::binary_function<T, T, T> { \
        __device__ T operator()(T a, T b) STATEMENTS                               \
    };
SPECIALISE(T, Op::kAdd, BODY({ return a + b; }), typename T)
SPECIALISE(T, Op::kTwice, BODY({ return a + b + b; }), typename T)
#undef SPECIALISE
#undef BODY
template <typename T, Op op> __device__ T combine(T a, T b)
{
    return Functor<T, op>()(a, b);
}
#endif
} // namespace funcs
} // namespace tiny
