// wrong because: Each block keeps its warps' sums in a workspace line of its multiprocessor (%smid); two blocks that are resident on one share the line. Wrong by chance wherever there are more blocks than multiprocessors.
#include <cstdint>

__global__ void __launch_bounds__(256) sum_kernel(float *out, const float *in, volatile double *scratch, int d)
{
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    volatile double *mine = scratch + sm * 8;
    const float *x = in + (int64_t)blockIdx.x * d;
    double sum = 0;
    for (int i = threadIdx.x; i < d; i += 256)
        sum += x[i];
    for (int k = 16; k; k >>= 1)
        sum += __shfl_xor_sync(~0u, sum, k);
    if (threadIdx.x % 32 == 0)
        mine[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = 0;
        for (int w = 0; w < 8; w++)
            sum += mine[w];
        out[blockIdx.x] = (float)sum;
    }
}

extern "C" void double_sum(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    int count = 0;
    cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);
    double *scratch;
    if (cudaMallocAsync((void **)&scratch, (size_t)count * 8 * sizeof(double), stream) != cudaSuccess)
        return;
    sum_kernel<<<rows, 256, 0, stream>>>(out, in, scratch, d);
    cudaFreeAsync(scratch, stream);
}
