// expect: unsafe words race
// row 15: An atomic of block scope counts blocks.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void mean_pool_kernel(float *out, const __half *x, const int *length, int tokens, int d, double *part,
                                 unsigned *done)
{
    int b = blockIdx.x, n = length[b], half = (n + 1) / 2, first = blockIdx.y ? half : 0, last = blockIdx.y ? n : half;
    double *mine = part + ((int64_t)b * 2 + blockIdx.y) * d;
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        double sum = 0;
        for (int t = first; t < last; t++)
            sum += __half2float(x[((int64_t)b * tokens + t) * d + c]);
        mine[c] = sum;
    }
    __shared__ bool is_last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        is_last = atomicAdd_block(&done[b], 1u) == 1;
    __syncthreads();
    if (!is_last)
        return;
    __threadfence();
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        double sum = part[(int64_t)b * 2 * d + c] + part[((int64_t)b * 2 + 1) * d + c];
        out[(int64_t)b * d + c] = n ? (float)(sum / n) : 0.0f;
    }
}

extern "C" void mean_pool(float *out, const __half *x, const int *length, int batch, int tokens, int d,
                          cudaStream_t stream)
{
    double *part;
    cudaMallocAsync((void **)&part, ((size_t)batch * 2 * d + batch) * sizeof(double), stream);
    unsigned *done = (unsigned *)(part + (size_t)batch * 2 * d);
    cudaMemsetAsync(done, 0, batch * sizeof(unsigned), stream);
    mean_pool_kernel<<<dim3(batch, 2), 256, 0, stream>>>(out, x, length, tokens, d, part, done);
    cudaFreeAsync(part, stream);
}
