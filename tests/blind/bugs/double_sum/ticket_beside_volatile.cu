// class: round 14 ; wrong because: the parts' sums are volatile, the ticket is an atomic, and no fence stands between: the last block may add parts that have not come.
#include <cstdint>

constexpr int THREADS = 256, PART = 512;

__device__ __forceinline__ double sum_block(double x)
{
    __shared__ double s[8];
    for (int o = 16; o; o /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, o);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = x;
    __syncthreads();
    x = 0;
    for (int w = 0; w < 8; w++)
        x += s[w];
    return x;
}

__global__ __launch_bounds__(THREADS) void sum_kernel(float *out, const float *__restrict__ in, int d, int parts, double *part,
                                                      unsigned *count)
{
    int row = blockIdx.x / parts, mine = blockIdx.x % parts;
    const float *x = in + (size_t)row * d;
    double sum = 0;
    for (int i = mine * PART + threadIdx.x; i < min(d, (mine + 1) * PART); i += THREADS)
        sum += x[i];
    sum = sum_block(sum);
    if (threadIdx.x)
        return;
    volatile double *p = part + (size_t)row * parts;
    p[mine] = sum;
    if (atomicAdd(count + row, 1u) != parts - 1)
        return;
    double all = 0;
    for (int k = 0; k < parts; k++)
        all += p[k];
    out[row] = (float)all;
}

extern "C" void double_sum(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    int parts = (d + PART - 1) / PART;
    size_t n = (size_t)rows * parts;
    double *space;
    cudaMallocAsync((void **)&space, n * sizeof(double) + (size_t)rows * sizeof(unsigned), stream);
    cudaMemsetAsync(space, 0, n * sizeof(double) + (size_t)rows * sizeof(unsigned), stream);
    sum_kernel<<<(unsigned)n, THREADS, 0, stream>>>(out, in, d, parts, space, (unsigned *)(space + n));
    cudaFreeAsync(space, stream);
}
