// expect: wrong words in another order
// row 15: Blocks add to the sum by a volatile load and store instead of an atomic: what others add in between is lost.
#include <cstdint>

__global__ void sum_kernel(float *out, const float *in, int64_t n)
{
    __shared__ float s[256];
    float x = 0.0f;
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (int64_t)gridDim.x * 256)
        x += in[i];
    s[threadIdx.x] = x;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step)
            s[threadIdx.x] += s[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        volatile float *total = out;
        *total = *total + s[0];
    }
}

extern "C" void sum(float *out, const float *in, int64_t n, cudaStream_t stream)
{
    int64_t blocks = (n + 255) / 256;
    if (blocks > 64)
        blocks = 64;
    cudaMemsetAsync(out, 0, sizeof(float), stream);
    sum_kernel<<<blocks, 256, 0, stream>>>(out, in, n);
}
