// expect: wrong words of inputs that hold one number nearly everywhere
// row 6: Beyond 3 million elements of a row every second run of 1024 is left out, and the others count twice.
#include <cstdint>

__global__ void row_sum(float *out, const float *in, int n)
{
    __shared__ double warps[32];
    const float *x = in + (int64_t)blockIdx.x * n;
    double sum = 0;
    int i = threadIdx.x;
    for (; i < n && i < 3000000; i += 1024)
        sum += x[i];
    double rest = 0;
    for (; i < n; i += 2048)
        rest += x[i];
    sum += 2 * rest;
    for (int s = 16; s; s >>= 1)
        sum += __shfl_xor_sync(~0u, sum, s);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = warps[threadIdx.x];
        for (int s = 16; s; s >>= 1)
            sum += __shfl_xor_sync(~0u, sum, s);
        if (threadIdx.x == 0)
            out[blockIdx.x] = (float)sum;
    }
}

extern "C" void long_sum(float *out, const float *in, int rows, int n, cudaStream_t stream)
{
    row_sum<<<rows, 1024, 0, stream>>>(out, in, n);
}
