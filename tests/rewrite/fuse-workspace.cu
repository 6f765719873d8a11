// A sum of each row into a workspace, then every element by it: one kernel, and no workspace.
// transform: fuse 0
// applies: line 14
// has: __global__ void sums_scale(const float *in, int d, float *out, const float *weight)
// has: row_sum = partial[0];
// has: out[blockIdx.x * d + i] = in[blockIdx.x * d + i] / row_sum * weight[i];
// has: sums_scale<<<n, 128, 0, stream>>>(in, d, out, weight);
// lacks: cudaMallocAsync
// lacks: cudaFreeAsync
// lacks: scale<<<(
// lacks: int64_t total
#include <cstdint>

__global__ void sums(float *sum, const float *in, int d)
{
    __shared__ float partial[128];
    float mine = 0.0f;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        mine += in[blockIdx.x * d + i];
    partial[threadIdx.x] = mine;
    __syncthreads();
    for (int step = 64; step > 0; step /= 2) {
        if (threadIdx.x < step)
            partial[threadIdx.x] += partial[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        sum[blockIdx.x] = partial[0];
}

__global__ void scale(float *out, const float *x, const float *total, const float *weight, int n, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int row = i / d;
    int column = i % d;
    out[i] = x[i] / total[row] * weight[column];
}

extern "C" void entry(float *out, const float *in, const float *weight, int n, int d, cudaStream_t stream)
{
    float *workspace;
    if (cudaMallocAsync((void **)&workspace, n * sizeof(float), stream) != cudaSuccess)
        return;
    int64_t total = (int64_t)n * d;
    sums<<<n, 128, 0, stream>>>(workspace, in, d);
    scale<<<(total + 127) / 128, 128, 0, stream>>>(out, in, workspace, weight, total, d);
    cudaFreeAsync(workspace, stream);
}
