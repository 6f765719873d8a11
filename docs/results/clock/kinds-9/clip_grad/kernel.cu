#include <cuda_runtime.h>
// Gradients made shorter where all together are longer than `most`: sums of squares, their sum, the product.
__global__ void squares(float *part, const float *grad, int n)
{
    __shared__ float own[256];
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        sum += grad[i] * grad[i];
    own[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s)
            own[threadIdx.x] += own[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        part[blockIdx.x] = own[0];
}
__global__ void together(float *part, int parts, float most)
{
    __shared__ float own[1024];
    own[threadIdx.x] = threadIdx.x < parts ? part[threadIdx.x] : 0.0f;
    __syncthreads();
    for (int s = 512; s > 0; s /= 2) {
        if (threadIdx.x < s)
            own[threadIdx.x] += own[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        part[1024] = fminf(1.0f, most / (sqrtf(own[0]) + 1e-6f));
}
__global__ void shorten(float *grad, const float *part, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        grad[i] *= part[1024];
}
extern "C" void clip_grad(float *grad, float *part, float most, int n, cudaStream_t stream)
{
    int blocks = n / 256 < 1024 ? (n + 255) / 256 : 1024;
    squares<<<blocks, 256, 0, stream>>>(part, grad, n);
    together<<<1, 1024, 0, stream>>>(part, blocks, most);
    shorten<<<(n + 255) / 256, 256, 0, stream>>>(grad, part, n);
}
