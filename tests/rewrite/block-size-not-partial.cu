// Each block leaves its own sum: other blocks would have other sums, and more or fewer of them.
// transform: block-size -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i < n ? in[i] : 0.0f;
    for (int distance = 16; distance > 0; distance /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, distance);
    if (threadIdx.x == 0)
        out[blockIdx.x] = x;
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    int threads = 128;
    work<<<(n + threads - 1) / threads, threads, 0, stream>>>(out, in, n);
}
