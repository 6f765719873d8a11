// out[c][r] = in[r][c], one element per thread; which side is touched in order depends on the shape of the
// block.
#include <cstdint>

constexpr int BLOCK_X = 8; // astra: tune 4 8 16 32
constexpr int BLOCK_Y = 8;  // astra: tune 4 8 16 32

// N neighbouring values that move as one access (as several of 16 bytes when they are longer).
template <typename T, int N> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) packed {
    T at[N];
};

template <int N, typename T> __device__ __forceinline__ packed<T, N> packed_load(const T *from)
{
    return *reinterpret_cast<const packed<T, N> *>(from);
}

template <int N, typename T> __device__ __forceinline__ void packed_store(T *to, const packed<T, N> &values)
{
    *reinterpret_cast<packed<T, N> *>(to) = values;
}

__global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    int col = blockIdx.x * BLOCK_X + threadIdx.x;
    int row = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (row < rows && col < cols)
        out[(int64_t)col * rows + row] = in[(int64_t)row * cols + col];
}

// As transpose_kernel, 4 elements at a time; its launch says when.
__global__ void transpose_kernel_vec4(float *out, const float *in, int rows, int cols)
{
    int col = (blockIdx.x * BLOCK_X + threadIdx.x) * 4;
    int row = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (row < rows && col < cols) {
        const packed<float, 4> in_v = packed_load<4>(&in[(int64_t)row * cols + col]);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            out[(int64_t)(col + k) * rows + row] = in_v.at[k];
        }
    }
}

extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    dim3 block(BLOCK_X, BLOCK_Y);
    dim3 grid((cols + BLOCK_X - 1) / BLOCK_X, (rows + BLOCK_Y - 1) / BLOCK_Y);
    // 4 elements at a time, where rows are whole vectors and buffers are aligned.
    if (cols % 4 == 0 && (uintptr_t)in % 16 == 0) {
        transpose_kernel_vec4<<<dim3((grid.x + 3) / 4, grid.y, grid.z), block, 0, stream>>>(out, in, rows,
            cols);
    } else {
        transpose_kernel<<<grid, block, 0, stream>>>(out, in, rows, cols);
    }
}
