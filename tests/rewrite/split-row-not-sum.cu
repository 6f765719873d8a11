// The row is summed up: its blocks would each have a part.
// transform: split-row -1
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        sum += in[blockIdx.x * d + i];
    atomicAdd(&out[blockIdx.x], sum);
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
