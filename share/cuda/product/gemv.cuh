// A matrix times a vector: a warp adds up one row, each lane neighbouring elements of both in one access, as many as
// their addresses allow.
template <int EACH, typename A, typename X, typename Y>
__device__ __forceinline__ bool gemv_part(A &sum, const X *x, const Y *y, long long depth)
{
    const int lane = threadIdx.x % 32;
    if (reinterpret_cast<unsigned long long>(x) % (EACH * sizeof(X)) != 0 ||
        reinterpret_cast<unsigned long long>(y) % (EACH * sizeof(Y)) != 0)
        return false;
#pragma unroll 4
    for (long long v = lane; v < depth / EACH; v += 32) {
        const tile_vector<X, EACH> a = *reinterpret_cast<const tile_vector<X, EACH> *>(x + v * EACH);
        const tile_vector<Y, EACH> b = *reinterpret_cast<const tile_vector<Y, EACH> *>(y + v * EACH);
#pragma unroll
        for (int e = 0; e < EACH; e++)
            sum += static_cast<A>(a.at[e]) * static_cast<A>(b.at[e]);
    }
    for (long long d = depth / EACH * EACH + lane; d < depth; d += 32)
        sum += static_cast<A>(x[d]) * static_cast<A>(y[d]);
    return true;
}

template <typename A, typename X, typename Y>
__device__ __forceinline__ A gemv_product(const X *x, long long x_deep, const Y *y, long long y_deep,
                                          long long depth)
{
    constexpr int EACH = 16 / (sizeof(X) > sizeof(Y) ? sizeof(X) : sizeof(Y)), HALF = EACH > 2 ? EACH / 2 : 1,
                  QUARTER = EACH > 4 ? EACH / 4 : 1;
    A sum = 0;

    if (x_deep != 1 || y_deep != 1 ||
        !(gemv_part<EACH>(sum, x, y, depth) || gemv_part<HALF>(sum, x, y, depth) ||
          gemv_part<QUARTER>(sum, x, y, depth))) {
#pragma unroll 4
        for (long long d = threadIdx.x % 32; d < depth; d += 32)
            sum += static_cast<A>(x[d * x_deep]) * static_cast<A>(y[d * y_deep]);
    }
#pragma unroll
    for (int other = 16; other > 0; other /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, other);
    return sum;
}
