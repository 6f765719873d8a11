// class: round 12 ; wrong because: the index is an int: from 2^31 elements on it goes below zero.
#include <cstdint>

__global__ void sum_kernel(float *out, const float *in, int64_t n)
{
    __shared__ float s[8];
    float x = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        x += in[i];
    for (int o = 16; o; o /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, o);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++)
            x += s[w];
        atomicAdd(out, x);
    }
}

extern "C" void sum(float *out, const float *in, int64_t n, cudaStream_t stream)
{
    int64_t blocks = (n + 255) / 256;
    if (blocks > 132)
        blocks = 132;
    cudaMemsetAsync(out, 0, sizeof(float), stream);
    sum_kernel<<<blocks, 256, 0, stream>>>(out, in, n);
}
