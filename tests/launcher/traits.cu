// Traits: what a kernel's launch takes from types, constants that are templates, and functions that std::enable_if
// tells apart.
#include <type_traits>

template <int N> constexpr int threads = 32 * N;
template <typename T, int N = 2> constexpr int bytes = N * sizeof(T);

template <typename T> struct Convert {
    static constexpr bool exists = false;
    static constexpr int lanes = 1;
    using wide = double;
};
template <> struct Convert<float> {
    static constexpr bool exists = true;
    static constexpr int lanes = 4;
    using wide = float4;
};

template <typename T, int N> struct Traits {
    using type = T;
    typedef typename Convert<T>::wide wide;
    using either = typename std::conditional<(N > 2), float, char>::type;
    static constexpr int items = N, all = items * 2;
    T values[all];
    type last[items][2];
};

template <typename T, int W>
__global__ std::enable_if_t<(W > 0) && Convert<T>::exists> k(T *p, int n)
{
}

template <typename T, int W>
__global__ std::enable_if_t<(W == 0) || !Convert<T>::exists> k(T *p, int n)
{
}

template <typename T, typename U> __global__ void with(float *p, Traits<T, 1> t, dim3 d)
{
}

template <int N> typename std::enable_if<(N > 1), int>::type blocks(int n)
{
    return n / threads<N>;
}

template <int N, std::enable_if_t<(N <= 1), int> = 0> int blocks(int n)
{
    return n + N;
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    using T = Traits<float, 3>;
    using type = typename T::type;
    k<type, T::all><<<blocks<4>(n), threads<2>, bytes<float>, stream>>>(p, n);
    k<type, 0><<<blocks<1>(n), Convert<double>::lanes + Convert<type>::lanes, sizeof(T), stream>>>(p, n);
    k<double, 6><<<1, sizeof(typename T::wide), bytes<double, 3>, stream>>>((double *)p, n);
    Traits<float, 1> t = {{1, 2}, {{3, 4}}};
    with<float, typename T::either><<<1, 1, 0, stream>>>(p, t, dim3(n, 2));
}

// run: n=1024
// launch k<float, 6> (8,1,1) (64,1,1) 8 [p, 1024:i32]
// launch k<float, 0> (1025,1,1) (5,1,1) 48 [p, 1024:i32]
// launch k<double, 6> (1,1,1) (16,1,1) 24 [p, 1024:i32]
// launch with<float, float> (1,1,1) (1,1,1) 0 [p, {16 @0=1:f32 @4=2:f32 @8=3:f32 @12=4:f32}, {12 @0=1024:u32 @4=2:u32 @8=1:u32}]
