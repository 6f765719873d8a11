// A prefix sum, no tree.
// transform: shuffle 0
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    __shared__ float partial[128];
    int tid = threadIdx.x;
    float sum = in[blockIdx.x * 128 + tid];
    partial[tid] = sum;
    __syncthreads();
    for (int step = 1; step > 0; step *= 2) {
        if (tid < step)
            partial[tid] += partial[tid + step];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = partial[0];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
