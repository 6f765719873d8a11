// The element is added behind a question; the variable was zero before.
// transform: sum-first 4
// applies: line 17
// has: float sum = 0.0f;
// has: for (int i = (blockIdx.x * blockDim.x + threadIdx.x) * 2; i < n; i += gridDim.x * blockDim.x * 2) {
// has: sum += in[i] + in[i + 1];
#include <cstdint>


__global__ void pairs(const float *in, float *out, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
    float sum = 0.0f;
    __shared__ float all;
    if (threadIdx.x == 0)
        all = 0.0f;
    if (i < n)
        sum = in[i] + in[i + 1];
    __syncthreads();
    for (int step = 16; step > 0; step >>= 1)
        sum += __shfl_down_sync(0xffffffff, sum, step);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out, sum);
}

extern "C" void entry(const float *in, float *out, int n, cudaStream_t stream)
{
    cudaMemsetAsync(out, 0, sizeof(float), stream);
    pairs<<<(n / 2 + 255) / 256, 256, 0, stream>>>(in, out, n);
}
