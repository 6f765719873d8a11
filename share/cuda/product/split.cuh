// Neighbouring sums of a tile: what the blocks of a cluster have there in their shared memory, added in the order of
// their ranks.
template <int N, int BLOCKS, typename A>
__device__ __forceinline__ tile_vector<A, N> cluster_sums(A *own)
{
    tile_vector<A, N> sums = {};
#pragma unroll
    for (int rank = 0; rank < BLOCKS; rank++) {
        const tile_vector<A, N> theirs = *reinterpret_cast<const tile_vector<A, N> *>(
            cooperative_groups::this_cluster().map_shared_rank(own, rank));
#pragma unroll
        for (int i = 0; i < N; i++)
            sums.at[i] += theirs.at[i];
    }
    return sums;
}
