// What the blocks of a cluster have at one place of their shared memory, added in the order of their ranks.
template <int BLOCKS, typename A>
__device__ __forceinline__ A cluster_sum(A *own)
{
    A sum = 0;
#pragma unroll
    for (int rank = 0; rank < BLOCKS; rank++)
        sum += *cooperative_groups::this_cluster().map_shared_rank(own, rank);
    return sum;
}
