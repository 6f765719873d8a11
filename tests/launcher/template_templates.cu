// Templates as template arguments, of kernels and of functions that launch them.
namespace act {
template <typename T> struct Gelu {
    using wide = float;
    static constexpr int lanes = sizeof(T);
};
template <typename T, typename U> struct Pair {
    static constexpr int lanes = sizeof(U);
};
template <typename T> using Half = Gelu<short>;

template <template <typename T> class Op, typename T> __global__ void k(T *p, int n)
{
}
} // namespace act

template <int N, template <typename, typename> class Op, typename T> __global__ void pairs(T *p)
{
}

template <template <typename> class Op, typename T> void launch(T *p, cudaStream_t stream)
{
    using wide = typename Op<T>::wide;
    act::k<Op><<<1, Op<T>::lanes, sizeof(wide), stream>>>(p, 1);
}

extern "C" void go(float *p, cudaStream_t stream)
{
    act::k<act::Gelu><<<1, 1, 0, stream>>>(p, 2);
    launch<act::Gelu>(p, stream);
    launch<act::Half, double>((double *)p, stream);
    pairs<4, act::Pair, float><<<1, act::Pair<int, short>::lanes, 0, stream>>>(p);
}

// run:
// launch act::k<act::Gelu, float> (1,1,1) (1,1,1) 0 [p, 2:i32]
// launch act::k<act::Gelu, float> (1,1,1) (4,1,1) 4 [p, 1:i32]
// launch act::k<act::Half, double> (1,1,1) (2,1,1) 4 [p, 1:i32]
// launch pairs<4, act::Pair, float> (1,1,1) (2,1,1) 0 [p]
