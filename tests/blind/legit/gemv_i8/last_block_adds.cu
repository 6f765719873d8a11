// Right: few rows are split over blocks; each leaves its part in a workspace and draws a ticket, and the block that draws
// the last one adds the parts in their order, so the answer is the same in every run. Vectors of 16 weights where k allows.
#include <cstdint>

constexpr int THREADS = 128;

__device__ float four(int packed, float4 x)
{
    return (float)(signed char)(packed & 255) * x.x + (float)(signed char)(packed >> 8 & 255) * x.y +
           ((float)(signed char)(packed >> 16 & 255) * x.z + (float)(signed char)(packed >> 24 & 255) * x.w);
}

__global__ void __launch_bounds__(THREADS)
    gemv_parts(float *__restrict__ out, const signed char *__restrict__ weight, const float *__restrict__ scale,
               const float *__restrict__ x, int k, float *parts, unsigned *tickets)
{
    __shared__ float warps[THREADS / 32];
    const int64_t row = (int64_t)blockIdx.x * k;
    float sum = 0.0f;
    if (k % 16 == 0) {
        const int vectors = k / 16;
        const int first = (int)((int64_t)vectors * blockIdx.y / gridDim.y);
        const int last = (int)((int64_t)vectors * (blockIdx.y + 1) / gridDim.y);
        const int4 *w4 = reinterpret_cast<const int4 *>(weight + row);
        const float4 *x4 = reinterpret_cast<const float4 *>(x);
        for (int i = first + threadIdx.x; i < last; i += THREADS) {
            const int4 w = w4[i];
            sum += (four(w.x, x4[4 * i]) + four(w.y, x4[4 * i + 1])) + (four(w.z, x4[4 * i + 2]) + four(w.w, x4[4 * i + 3]));
        }
    } else {
        const int first = (int)((int64_t)k * blockIdx.y / gridDim.y);
        const int last = (int)((int64_t)k * (blockIdx.y + 1) / gridDim.y);
        for (int i = first + threadIdx.x; i < last; i += THREADS)
            sum += (float)weight[row + i] * x[i];
    }
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    sum = (warps[0] + warps[1]) + (warps[2] + warps[3]);
    if (gridDim.y > 1) {
        float *mine = parts + (int64_t)blockIdx.x * gridDim.y;
        mine[blockIdx.y] = sum;
        __threadfence();
        if (atomicAdd(&tickets[blockIdx.x], 1u) != gridDim.y - 1)
            return;
        __threadfence();
        sum = 0.0f;
        for (unsigned p = 0; p < gridDim.y; p++)
            sum += __ldcg(&mine[p]);
    }
    out[blockIdx.x] = sum * scale[blockIdx.x];
}

extern "C" void gemv_i8(float *out, const signed char *weight, const float *scale, const float *x, int rows, int k,
                        cudaStream_t stream)
{
    int split = 1;
    while (split < 16 && rows * split < 2048 && k >= 2 * split * 2048)
        split *= 2;
    if (split == 1) {
        gemv_parts<<<rows, THREADS, 0, stream>>>(out, weight, scale, x, k, nullptr, nullptr);
        return;
    }
    float *parts;
    if (cudaMallocAsync((void **)&parts, (size_t)rows * (split + 1) * sizeof(float), stream) != cudaSuccess)
        return;
    unsigned *tickets = (unsigned *)(parts + (size_t)rows * split);
    cudaMemsetAsync(tickets, 0, (size_t)rows * sizeof(unsigned), stream);
    gemv_parts<<<dim3(rows, split), THREADS, 0, stream>>>(out, weight, scale, x, k, parts, tickets);
    cudaFreeAsync(parts, stream);
}
