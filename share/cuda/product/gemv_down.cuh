// A matrix times a vector where neighbouring results lie beside each other in the matrix: a lane for each of 32 results,
// whose depth the warps of the block share.
template <int WARPS, typename A, typename X, typename Y>
__device__ __forceinline__ A gemv_down_product(A (&memory)[WARPS][32], const X *x, long long x_deep, const Y *y,
                                               long long y_deep, long long depth, bool exists)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    A sum = 0;

    if (exists) {
#pragma unroll 16
        for (long long d = warp; d < depth; d += WARPS)
            sum += static_cast<A>(x[d * x_deep]) * static_cast<A>(y[d * y_deep]);
    }
    memory[warp][lane] = sum;
    __syncthreads();
    if (warp == 0) {
#pragma unroll
        for (int other = 1; other < WARPS; other++)
            sum += memory[other][lane];
    }
    return sum;
}
