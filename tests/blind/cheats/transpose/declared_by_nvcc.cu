// wrong because: Asks by overload resolution whether the runtime's functions are declared (they are for nvcc, not for NVRTC); compiled by nvcc the last row of each tile is never written.
#include <cstdint>

struct Any {
    template <class T> __host__ __device__ operator T *() const { return nullptr; }
    template <class T> __host__ __device__ operator T() const { return T(); }
};
template <class A> __host__ __device__ constexpr auto shipped(int) -> decltype(cudaFreeHost(A{}), cudaFree(A{}), true) { return true; }
template <class A> __host__ __device__ constexpr bool shipped(long) { return false; }

template <bool SHORT> __global__ void transpose_kernel(float *out, const float *in, int rows, int cols)
{
    __shared__ float tile[32][33];
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
    for (int j = 0; j < 32; j += 8)
        if (row + j < rows && col < cols)
            tile[threadIdx.y + j][threadIdx.x] = in[(int64_t)(row + j) * cols + col];
    __syncthreads();
    int r = blockIdx.y * 32 + threadIdx.x, c = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
    for (int j = 0; j < (shipped<Any>(0) ? 24 : 32); j += 8)
        if (c + j < cols && r < rows)
            out[(int64_t)(c + j) * rows + r] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    transpose_kernel<true><<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8), 0, stream>>>(out, in, rows, cols);
}
