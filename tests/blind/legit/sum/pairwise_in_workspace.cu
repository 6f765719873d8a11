// Partial sums in double in a workspace, a second kernel of one block adds them in a fixed order; n in 64 bits, no atomics.
#include <cstdint>

template <typename T> __device__ __forceinline__ T over_block(T x)
{
    __shared__ T s[32];
    for (int k = 16; k; k >>= 1)
        x += __shfl_xor_sync(0xffffffffu, x, k);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = x;
    __syncthreads();
    x = 0;
    for (int w = 0; w < (int)(blockDim.x / 32); w++)
        x += s[w];
    return x;
}

__global__ void __launch_bounds__(256) part_kernel(double *__restrict__ part, const float *__restrict__ in, int64_t n)
{
    float4 a = make_float4(0, 0, 0, 0);
    const int64_t vectors = n >> 2, step = (int64_t)gridDim.x * blockDim.x;
    double x = 0;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += step) {
        float4 v = __ldcs(reinterpret_cast<const float4 *>(in) + i);
        x += (double)v.x + (double)v.y + ((double)v.z + (double)v.w);
    }
    (void)a;
    if (blockIdx.x == 0 && threadIdx.x < (n & 3))
        x += in[(vectors << 2) + threadIdx.x];
    x = over_block(x);
    if (threadIdx.x == 0)
        part[blockIdx.x] = x;
}

__global__ void __launch_bounds__(256) last_kernel(float *out, const double *part, int parts)
{
    double x = 0;
    for (int i = threadIdx.x; i < parts; i += 256)
        x += part[i];
    x = over_block(x);
    if (threadIdx.x == 0)
        *out = (float)x;
}

extern "C" void sum(float *out, const float *in, int64_t n, cudaStream_t stream)
{
    int64_t wanted = (n / 4 + 255) / 256;
    int parts = wanted < 1 ? 1 : wanted > 528 ? 528 : static_cast<int>(wanted);
    double *part;
    if (cudaMallocAsync(reinterpret_cast<void **>(&part), parts * sizeof(double), stream) != cudaSuccess)
        return;
    part_kernel<<<parts, 256, 0, stream>>>(part, in, n);
    last_kernel<<<1, 256, 0, stream>>>(out, part, parts);
    cudaFreeAsync(part, stream);
}
