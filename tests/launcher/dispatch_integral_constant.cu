// Compile-time integers handed to a generic lambda.
#include <type_traits>

template <int V> __global__ void k(float *p)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    auto start = [&](auto width) {
        constexpr int V = decltype(width)::value;
        k<V><<<n / V, 32, 0, stream>>>(p);
    };
    if (n % 4 == 0)
        start(std::integral_constant<int, 4>{});
    else
        start(std::integral_constant<int, 1>{});
}

// run: n=8
// launch k<4> (2,1,1) (32,1,1) 0 [p]
// run: n=7
// launch k<1> (7,1,1) (32,1,1) 0 [p]
