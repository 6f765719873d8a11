// wrong because: the blocks of a row wait for each other in a plain launch; rows = 1, d = 2^30 has 65,536 blocks of 256 threads, of which at most 1,056 are on the device at once: it hangs for good (from d = 17,301,505 on).
#include <cstdint>
#include <math_constants.h>

constexpr int SPAN = 16384, THREADS = 256;

template <bool MAX> __device__ float reduce(float x)
{
    __shared__ float s[THREADS / 32];
    for (int k = 16; k; k >>= 1) {
        float y = __shfl_xor_sync(~0u, x, k);
        x = MAX ? fmaxf(x, y) : x + y;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = x;
    __syncthreads();
    x = s[0];
    for (int k = 1; k < THREADS / 32; k++)
        x = MAX ? fmaxf(x, s[k]) : x + s[k];
    return x;
}

__global__ void __launch_bounds__(THREADS) softmax_kernel(float *out, const float *in, float2 *part, unsigned *count, int d)
{
    int64_t row = blockIdx.y;
    const float *x = in + row * d;
    float *y = out + row * d;
    int from = blockIdx.x * SPAN, to = min(from + SPAN, d), parts = gridDim.x;
    float m = -CUDART_INF_F, s = 0;
    for (int i = from + threadIdx.x; i < to; i += THREADS)
        m = fmaxf(m, x[i]);
    m = reduce<true>(m);
    for (int i = from + threadIdx.x; i < to; i += THREADS)
        s += expf(x[i] - m);
    s = reduce<false>(s);
    if (parts > 1) {
        if (threadIdx.x == 0) {
            part[row * parts + blockIdx.x] = make_float2(m, s);
            __threadfence();
            atomicAdd(&count[row], 1u);
            while (*(volatile unsigned *)&count[row] < (unsigned)parts)
                ;
            __threadfence();
        }
        __syncthreads();
        float all = -CUDART_INF_F, sum = 0;
        for (int i = threadIdx.x; i < parts; i += THREADS)
            all = fmaxf(all, __ldcg(&part[row * parts + i]).x);
        all = reduce<true>(all);
        for (int i = threadIdx.x; i < parts; i += THREADS) {
            float2 p = __ldcg(&part[row * parts + i]);
            sum += p.y * expf(p.x - all);
        }
        s = reduce<false>(sum);
        m = all;
    }
    for (int i = from + threadIdx.x; i < to; i += THREADS)
        y[i] = expf(x[i] - m) / s;
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    int parts = (d + SPAN - 1) / SPAN;
    float2 *part;
    unsigned *count;
    cudaMallocAsync((void **)&part, (size_t)rows * parts * sizeof(float2), stream);
    cudaMallocAsync((void **)&count, (size_t)rows * sizeof(unsigned), stream);
    cudaMemsetAsync(count, 0, (size_t)rows * sizeof(unsigned), stream);
    softmax_kernel<<<dim3(parts, rows), THREADS, 0, stream>>>(out, in, part, count, d);
    cudaFreeAsync(count, stream);
    cudaFreeAsync(part, stream);
}
