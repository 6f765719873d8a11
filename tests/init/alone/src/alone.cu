// Kernels that no function of the repository launches.
#include <cassert>
#include <cstdint>

template <typename T, typename IdType>
__global__ void pick_rows(const T *table, const int64_t n_table, const IdType *ids, const int64_t n, T *out)
{
    const int64_t stride = gridDim.x * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
        assert(ids[i] >= 0 && ids[i] < n_table);
        out[i] = table[ids[i]];
    }
}

__global__ void scale_each_row(float *out, const float *x, int width)
{
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        out[blockIdx.x * width + i] = 2 * x[blockIdx.x * width + i];
}

__global__ void shift_planes(const int count, const float *x, const int channels, const int height, const int width,
                             float *out)
{
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= count)
        return;
    const int w = index % width;
    const int h = (index / width) % height;
    const int c = (index / width / height) % channels;
    out[index] = x[index] + w + 10 * h + 100 * c;
}

template <int TILE> __global__ void transpose_tiles(float *out, const float *x, int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];
    const int col = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
    if (row < rows && col < cols)
        tile[threadIdx.y][threadIdx.x] = x[row * cols + col];
    __syncthreads();
    const int to_col = blockIdx.y * TILE + threadIdx.x, to_row = blockIdx.x * TILE + threadIdx.y;
    if (to_row < cols && to_col < rows)
        out[to_row * rows + to_col] = tile[threadIdx.x][threadIdx.y];
}
template __global__ void transpose_tiles<16>(float *, const float *, int, int);

// A warp for each row, blocks of 34 bytes as a format has them.
__global__ void sum_blocks(const int8_t *data, float *out, const int block_bytes, const int n_blocks)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (row >= n_blocks)
        return;
    float sum = data[row * block_bytes + 2 + lane];
    for (int m = 16; m; m >>= 1)
        sum += __shfl_xor_sync(~0u, sum, m);
    if (lane == 0)
        out[row] = sum * data[row * block_bytes];
}

// Its parameter has the name that a launcher's grid would have.
__global__ void sample_grid(const float *grid, float *out, int n)
{
    extern __shared__ float kept[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    kept[threadIdx.x] = i < n ? grid[i] : 0;
    __syncthreads();
    if (i < n)
        out[i] = kept[threadIdx.x] + 1;
}

// What is read hangs on two sizes.
__global__ void clipped(const float *x, float *out, int n, int m)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = i < m ? x[i] : 0;
}

// A block for each segment of rows.
__global__ void sum_segments(const float *x, const int *indptr, float *out, int segments, int width)
{
    const int s = blockIdx.x;
    if (s >= segments)
        return;
    for (int c = threadIdx.x; c < width; c += blockDim.x) {
        float sum = 0;
        for (int row = indptr[s]; row < indptr[s + 1]; row++)
            sum += x[row * width + c];
        out[s * width + c] = sum;
    }
}

__global__ void scale_segments(float *x, const int *cu_seqlens, const float *by, int width)
{
    const int s = blockIdx.x;
    for (int row = cu_seqlens[s]; row < cu_seqlens[s + 1]; row++)
        for (int c = threadIdx.x; c < width; c += blockDim.x)
            x[row * width + c] *= by[s];
}

// Views of tensors, as torch hands them to kernels.
__global__ void add_views(const at::PackedTensorAccessor32<float, 2, at::RestrictPtrTraits> x,
                          const at::PackedTensorAccessor64<float, 1, at::RestrictPtrTraits> by,
                          at::PackedTensorAccessor32<float, 2, at::RestrictPtrTraits> out)
{
    for (int i = blockIdx.x; i < x.size(0); i += gridDim.x)
        for (int c = threadIdx.x; c < x.size(1); c += blockDim.x)
            out[i][c] = x[i][c] + by[c];
}
