// A block meets no counter again where there are as many as rows have elements; and halves are not added by themselves.
// transform: privatise -1
// leaves
#include <cuda_fp16.h>

__global__ void sums(__half *total, const unsigned char *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&total[in[i]], __half());
}

__global__ void many(float *rows, const int *which, const float *in, int n, int d)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&rows[which[i / d] * d + i % d], in[i]);
}

__global__ void own(float *sums, const float *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&sums[threadIdx.x], in[i]);
}

extern "C" void entry(__half *total, const unsigned char *in, float *rows, const int *which, const float *x, int n, int d,
                      cudaStream_t stream)
{
    sums<<<264, 256, 0, stream>>>(total, in, n);
    many<<<264, 256, 0, stream>>>(rows, which, x, n, d);
    own<<<264, 256, 0, stream>>>(rows, x, n);
}
