// expect: wrong
// row 12: A grid-stride loop counts in 32 bits up to a number of 64: next to 2^32 elements it begins again and never ends.
#include <cstdint>

__global__ void __launch_bounds__(512) add_up(float *out, const float *in, int64_t n)
{
    __shared__ float parts[16];
    float x = 0.0f;
    for (unsigned i = blockIdx.x * 512 + threadIdx.x; i < n; i += 512 * gridDim.x)
        x += in[i];
    for (int k = 16; k; k /= 2)
        x += __shfl_xor_sync(~0u, x, k);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 16; w++)
            x += parts[w];
        atomicAdd(out, x);
    }
}

extern "C" void sum(float *out, const float *in, int64_t n, cudaStream_t stream)
{
    int64_t blocks = (n + 511) / 512;
    cudaMemsetAsync(out, 0, sizeof(float), stream);
    add_up<<<(unsigned)(blocks < 792 ? blocks : 792), 512, 0, stream>>>(out, in, n);
}
