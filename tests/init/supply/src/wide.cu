// What these files do not say: numbers of the build, and a class of a header that nobody includes.
#include <cuda_runtime.h>

__global__ void scale_wide(const float *x, float *y, float by)
{
    __shared__ float row[ROW_WIDTH];
    row[threadIdx.x] = x[blockIdx.x * ROW_WIDTH + threadIdx.x];
    __syncthreads();
    y[blockIdx.x * ROW_WIDTH + threadIdx.x] = by * row[ROW_WIDTH - 1 - threadIdx.x];
}

void run_scale_wide(const float *x, float *y, float by, int rows, cudaStream_t stream)
{
    scale_wide<<<rows, ROW_WIDTH, 0, stream>>>(x, y, by);
}

__global__ void add_groups(const float *x, float *y)
{
    y[blockIdx.x * GROUP_LENGTH + threadIdx.x] += x[blockIdx.x];
}

void run_add_groups(const float *x, float *y, int groups, cudaStream_t stream)
{
    add_groups<<<groups, GROUP_LENGTH, 0, stream>>>(x, y);
}

__global__ void negate_rows(const float *x, float *y, int width)
{
    const RowsOf rows = {x, width};
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        y[blockIdx.x * width + i] = -rows.at(blockIdx.x, i);
}

void run_negate_rows(const float *x, float *y, int rows, int width, cudaStream_t stream)
{
    negate_rows<<<rows, 64, 0, stream>>>(x, y, width);
}

struct Doubled {
    __device__ float operator()(float x) const
    {
        return 2 * x;
    }
};

// Nobody launches it: which class it takes is seen by what is asked of it.
template <typename T, typename Op> __global__ void map_each(const T *x, T *y, int n, Op op)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = op(x[i]);
}
