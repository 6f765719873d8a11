// expect: correct
// Blocks of a row add in turn; thread 0 waits by ld.acquire, another thread adds, thread 0 fences and raises the semaphore.
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
    double *total = part + (size_t)row * parts;
    if (threadIdx.x == 0) {
        unsigned turn;
        do
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(turn) : "l"(count + row) : "memory");
        while (turn != mine);
    }
    __syncthreads();
    if (threadIdx.x == 77) {
        sum += *total;
        *total = sum;
        if (mine == parts - 1)
            out[row] = (float)sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(count + row), "r"(mine + 1) : "memory");
    }
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
