// Neighbouring sums of a tile, out of shared memory.
template <int N, typename A>
__device__ __forceinline__ tile_vector<A, N> own_sums(A *own)
{
    return *reinterpret_cast<const tile_vector<A, N> *>(own);
}
