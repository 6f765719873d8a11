// Blocks of a product: which tile a block of threads computes. The tiles of a grid go along x alone, eight rows of
// tiles at a time, so that blocks that run together read the same operands.
__device__ __forceinline__ void tile_place(unsigned int tile, long long rows, long long cols, int tile_rows,
                                           int tile_cols, long long &row0, long long &col0)
{
    const unsigned int down = (unsigned int)((rows + tile_rows - 1) / tile_rows);
    const unsigned int across = (unsigned int)((cols + tile_cols - 1) / tile_cols);
    const unsigned int band = tile / (8 * across), within = tile % (8 * across);
    const unsigned int high = down - band * 8 < 8 ? down - band * 8 : 8;

    row0 = (long long)(band * 8 + within % high) * tile_rows;
    col0 = (long long)(within / high) * tile_cols;
}

// Finished neighbours, of which `left` exist, as one where the address allows it.
template <typename T, int N>
__device__ __forceinline__ void tile_store(T *to, const tile_vector<T, N> &results, long long left)
{
    if (left >= N && reinterpret_cast<unsigned long long>(to) % sizeof(results) == 0) {
        *reinterpret_cast<tile_vector<T, N> *>(to) = results;
        return;
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        if (i < left)
            to[i] = results.at[i];
}
