// A sum over the block.
// transform: shuffle 0
// applies: line 17
// has: sum += __shfl_xor_sync(0xffffffffu, sum, distance);
// has: __shared__ float partial[32];
// has: out[blockIdx.x] = sum;
// lacks: step
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
    if (tid == 0)
        out[blockIdx.x] = partial[0];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
