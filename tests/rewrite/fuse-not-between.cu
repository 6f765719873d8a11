// Another launch changes what the second one reads.
// transform: fuse -1
// leaves
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

__global__ void change(float *sum)
{
    sum[threadIdx.x] += 1.0f;
}

extern "C" void entry(float *out, float *sum, const float *in, const float *weight, int n, int d, cudaStream_t stream)
{
    sums<<<n, 128, 0, stream>>>(sum, in, d);
    change<<<1, 1, 0, stream>>>(sum);
    scale<<<(n * d + 127) / 128, 128, 0, stream>>>(out, in, sum, weight, n * d, d);
}
