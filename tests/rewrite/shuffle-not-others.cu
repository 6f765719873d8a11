// Other slots than the first are read afterwards.
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
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (tid < step)
            partial[tid] += partial[tid + step];
        __syncthreads();
    }
    out[tid] = partial[0] + partial[1];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
