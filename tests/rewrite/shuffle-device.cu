// In a device function template; whole warps are asserted there.
// transform: shuffle 0
// applies: line 14
// has: static_assert(THREADS % 32 == 0, "whole warps");
// has: value = tid % 32 < THREADS / 32 ? partial[tid % 32] : 0;
#include <cstdint>

template <int THREADS> __device__ int block_sum(int value)
{
    __shared__ int partial[THREADS];
    int tid = threadIdx.x;
    partial[tid] = value;
    __syncthreads();
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (tid < step)
            partial[tid] = partial[tid] + partial[tid + step];
        __syncthreads();
    }
    return partial[0];
}

__global__ void work(int *out, const int *in)
{
    out[blockIdx.x] = block_sum<128>(in[blockIdx.x * 128 + threadIdx.x]);
}

extern "C" void entry(int *out, const int *in, int n, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in);
}
