// expect: wrong
// row 12: Few blocks, and an index of 32 bits that wraps beyond 2^32 elements: the loop never ends.
// Each block adds its part to the result.
#include <cstdint>

__global__ void sum_kernel(float *out, const float *in, int64_t n)
{
    __shared__ float s[256];
    float x = 0.0f;
    for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        x += in[i];
    s[threadIdx.x] = x;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step)
            s[threadIdx.x] += s[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(out, s[0]);
}

extern "C" void sum(float *out, const float *in, int64_t n, cudaStream_t stream)
{
    int64_t blocks = (n + 255) / 256;
    if (blocks > 64)
        blocks = 64;
    cudaMemsetAsync(out, 0, sizeof(float), stream);
    sum_kernel<<<blocks, 256, 0, stream>>>(out, in, n);
}
