// Two kernels over (part, row): sums of squares into a workspace, then the normalisation; parts that are empty write a zero, and the stored (rounded) sum is what is squared.
#include <cstdint>
#include <cuda_bf16.h>

constexpr int THREADS = 256;
constexpr int TARGET_BLOCKS = 1056;

union Pack {
    uint4 raw;
    __nv_bfloat162 pair[4];
};

struct Shape {
    int d;
    int parts;
    int chunk; // a multiple of 8
};

__device__ __forceinline__ float sum_over_block(float v)
{
    __shared__ float s[THREADS / 32];
#pragma unroll
    for (int o = 16; o; o /= 2)
        v += __shfl_down_sync(0xffffffff, v, o);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = v;
    __syncthreads();
    float total = 0.f;
#pragma unroll
    for (int k = 0; k < THREADS / 32; k++)
        total += s[k];
    return total;
}

template <bool WIDE>
__global__ void add_and_square(const __nv_bfloat16 *__restrict__ x, __nv_bfloat16 *__restrict__ residual,
                               float *__restrict__ partial, Shape shape)
{
    const int64_t row = (int64_t)blockIdx.y * shape.d;
    const int64_t low = (int64_t)blockIdx.x * shape.chunk;
    const int64_t high = min(low + shape.chunk, (int64_t)shape.d);
    float sum = 0.f;
    if constexpr (WIDE) {
        for (int64_t i = low + threadIdx.x * 8; i < high; i += THREADS * 8) {
            Pack a, r;
            a.raw = __ldg(reinterpret_cast<const uint4 *>(x + row + i));
            r.raw = *reinterpret_cast<const uint4 *>(residual + row + i);
#pragma unroll
            for (int k = 0; k < 4; k++) {
                float2 p = __bfloat1622float2(a.pair[k]), q = __bfloat1622float2(r.pair[k]);
                r.pair[k] = __floats2bfloat162_rn(p.x + q.x, p.y + q.y);
                float2 t = __bfloat1622float2(r.pair[k]);
                sum += t.x * t.x;
                sum += t.y * t.y;
            }
            *reinterpret_cast<uint4 *>(residual + row + i) = r.raw;
        }
    } else {
        for (int64_t i = low + threadIdx.x; i < high; i += THREADS) {
            __nv_bfloat16 t = __float2bfloat16(__bfloat162float(x[row + i]) + __bfloat162float(residual[row + i]));
            residual[row + i] = t;
            float f = __bfloat162float(t);
            sum += f * f;
        }
    }
    sum = sum_over_block(sum);
    if (threadIdx.x == 0)
        partial[(int64_t)blockIdx.y * shape.parts + blockIdx.x] = sum;
}

template <bool WIDE>
__global__ void normalise(__nv_bfloat16 *__restrict__ x, const __nv_bfloat16 *__restrict__ residual,
                          const __nv_bfloat16 *__restrict__ weight, const float *__restrict__ partial, Shape shape,
                          float eps)
{
    float sum = 0.f;
    for (int k = threadIdx.x; k < shape.parts; k += THREADS)
        sum += partial[(int64_t)blockIdx.y * shape.parts + k];
    sum = sum_over_block(sum);
    const float rms = sqrtf(sum / shape.d + eps);

    const int64_t row = (int64_t)blockIdx.y * shape.d;
    const int64_t low = (int64_t)blockIdx.x * shape.chunk;
    const int64_t high = min(low + shape.chunk, (int64_t)shape.d);
    if constexpr (WIDE) {
        for (int64_t i = low + threadIdx.x * 8; i < high; i += THREADS * 8) {
            Pack r, w, o;
            r.raw = __ldcs(reinterpret_cast<const uint4 *>(residual + row + i));
            w.raw = __ldg(reinterpret_cast<const uint4 *>(weight + i));
#pragma unroll
            for (int k = 0; k < 4; k++) {
                float2 p = __bfloat1622float2(r.pair[k]), q = __bfloat1622float2(w.pair[k]);
                o.pair[k] = __floats2bfloat162_rn(p.x / rms * q.x, p.y / rms * q.y);
            }
            *reinterpret_cast<uint4 *>(x + row + i) = o.raw;
        }
    } else {
        for (int64_t i = low + threadIdx.x; i < high; i += THREADS)
            x[row + i] =
                __float2bfloat16(__bfloat162float(residual[row + i]) / rms * __bfloat162float(weight[i]));
    }
}

extern "C" void fused_add_rmsnorm(__nv_bfloat16 *x, __nv_bfloat16 *residual, const __nv_bfloat16 *weight, int rows,
                                  int d, float eps, cudaStream_t stream)
{
    int parts = TARGET_BLOCKS / rows;
    int useful = (int)(((int64_t)d + 2047) / 2048);
    if (parts > useful)
        parts = useful;
    if (parts < 1)
        parts = 1;
    int chunk = (int)(((int64_t)d + 8 * (int64_t)parts - 1) / (8 * (int64_t)parts) * 8);
    Shape shape;
    shape.d = d;
    shape.parts = parts;
    shape.chunk = chunk;

    float *partial = nullptr;
    if (cudaMallocAsync((void **)&partial, (size_t)rows * parts * sizeof(float), stream) != cudaSuccess)
        return;
    dim3 grid(parts, rows);
    if (d % 8 == 0) {
        add_and_square<true><<<grid, THREADS, 0, stream>>>(x, residual, partial, shape);
        normalise<true><<<grid, THREADS, 0, stream>>>(x, residual, weight, partial, shape, eps);
    } else {
        add_and_square<false><<<grid, THREADS, 0, stream>>>(x, residual, partial, shape);
        normalise<false><<<grid, THREADS, 0, stream>>>(x, residual, weight, partial, shape, eps);
    }
    cudaFreeAsync(partial, stream);
}
