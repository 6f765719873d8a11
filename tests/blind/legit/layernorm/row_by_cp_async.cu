// Right: a row of up to 16384 halves is copied to shared memory by cp.async, each thread waits for its own vectors only,
// and mean, squares and result are made from there in one kernel; other rows are read three times.
#include <cstdint>
#include <cuda_fp16.h>

constexpr int THREADS = 256;

union vec8 {
    uint4 bits;
    __half2 pair[4];
};

__device__ float block_sum(float value, float *partial)
{
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, step);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0.0f;
#pragma unroll
    for (int w = 0; w < THREADS / 32; w++)
        value += partial[w];
    return value;
}

__global__ void __launch_bounds__(THREADS)
    layernorm_shared(__half *__restrict__ out, const __half *__restrict__ in, const __half *__restrict__ weight,
                     const __half *__restrict__ bias, int d, float eps)
{
    extern __shared__ uint4 cache[];
    __shared__ float first[THREADS / 32], second[THREADS / 32];
    const int vectors = d / 8;
    const uint4 *from = reinterpret_cast<const uint4 *>(in + (int64_t)blockIdx.x * d);
    uint4 *to = reinterpret_cast<uint4 *>(out + (int64_t)blockIdx.x * d);
    for (int i = threadIdx.x; i < vectors; i += THREADS) {
        const unsigned place = (unsigned)__cvta_generic_to_shared(&cache[i]);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from + i) : "memory");
    }
    asm volatile("cp.async.wait_all;" ::: "memory");

    // From here on a thread uses only what it has copied itself.
    float sum = 0.0f;
    for (int i = threadIdx.x; i < vectors; i += THREADS) {
        vec8 v;
        v.bits = cache[i];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const float2 p = __half22float2(v.pair[k]);
            sum += p.x + p.y;
        }
    }
    const float mean = block_sum(sum, first) / d;

    float squares = 0.0f;
    for (int i = threadIdx.x; i < vectors; i += THREADS) {
        vec8 v;
        v.bits = cache[i];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const float2 p = __half22float2(v.pair[k]);
            squares += (p.x - mean) * (p.x - mean) + (p.y - mean) * (p.y - mean);
        }
    }
    const float scale = 1.0f / sqrtf(block_sum(squares, second) / d + eps);

    for (int i = threadIdx.x; i < vectors; i += THREADS) {
        vec8 v, w, b;
        v.bits = cache[i];
        w.bits = reinterpret_cast<const uint4 *>(weight)[i];
        b.bits = reinterpret_cast<const uint4 *>(bias)[i];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const float2 p = __half22float2(v.pair[k]), q = __half22float2(w.pair[k]), r = __half22float2(b.pair[k]);
            v.pair[k] = __floats2half2_rn((p.x - mean) * scale * q.x + r.x, (p.y - mean) * scale * q.y + r.y);
        }
        to[i] = v.bits;
    }
}

__global__ void __launch_bounds__(THREADS)
    layernorm_scalar(__half *__restrict__ out, const __half *__restrict__ in, const __half *__restrict__ weight,
                     const __half *__restrict__ bias, int d, float eps)
{
    __shared__ float first[THREADS / 32], second[THREADS / 32];
    const int64_t row = (int64_t)blockIdx.x * d;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += THREADS)
        sum += __half2float(in[row + i]);
    const float mean = block_sum(sum, first) / d;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < d; i += THREADS) {
        const float difference = __half2float(in[row + i]) - mean;
        squares += difference * difference;
    }
    const float scale = 1.0f / sqrtf(block_sum(squares, second) / d + eps);
    for (int i = threadIdx.x; i < d; i += THREADS)
        out[row + i] = __float2half((__half2float(in[row + i]) - mean) * scale * __half2float(weight[i]) +
                                    __half2float(bias[i]));
}

extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows,
                          int d, float eps, cudaStream_t stream)
{
    const bool aligned = ((uintptr_t)out | (uintptr_t)in | (uintptr_t)weight | (uintptr_t)bias) % 16 == 0;
    if (aligned && d % 8 == 0 && d <= 16384)
        layernorm_shared<<<rows, THREADS, (size_t)d * 2, stream>>>(out, in, weight, bias, d, eps);
    else
        layernorm_scalar<<<rows, THREADS, 0, stream>>>(out, in, weight, bias, d, eps);
}
