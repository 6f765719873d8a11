// Four queries a block share each key and value read; dots run over the 64 numbers in the original's order, scores and weights stay in float. Rows beyond the last repeat it and are not written.
#include <cuda_fp16.h>
#include <math_constants.h>

constexpr int D = 64;
constexpr int ROWS = 4;
constexpr int WARPS = 8;
constexpr int THREADS = WARPS * 32;
constexpr int MOST_KEYS = 4096;

__global__ void __launch_bounds__(THREADS) attention_kernel(__half *__restrict__ out, const __half *__restrict__ q,
                                                            const __half *__restrict__ k,
                                                            const __half *__restrict__ v, int rows, int keys)
{
    extern __shared__ float score[]; // ROWS x keys
    __shared__ float own[ROWS][D];
    __shared__ float part[WARPS][ROWS];
    __shared__ float2 sums[WARPS][ROWS][D / 2];

    const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    const int row0 = blockIdx.x * ROWS;
    {
        const int r = tid / D, t = tid % D; // 256 threads: exactly ROWS x D
        const int row = min(row0 + r, rows - 1);
        own[r][t] = __half2float(q[(size_t)row * D + t]);
    }
    __syncthreads();

    float most[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        most[r] = -CUDART_INF_F;
    for (int j = tid; j < keys; j += THREADS) {
        const uint4 *key = reinterpret_cast<const uint4 *>(k + (size_t)j * D);
        float dot[ROWS] = {};
#pragma unroll
        for (int c = 0; c < D / 8; c++) {
            const uint4 raw = __ldg(key + c);
            const __half *h = reinterpret_cast<const __half *>(&raw);
#pragma unroll
            for (int e = 0; e < 8; e++) {
                const float x = __half2float(h[e]);
#pragma unroll
                for (int r = 0; r < ROWS; r++)
                    dot[r] += own[r][c * 8 + e] * x;
            }
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const float s = dot[r] * 0.125f;
            score[r * keys + j] = s;
            most[r] = fmaxf(most[r], s);
        }
    }

#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        for (int o = 16; o; o >>= 1)
            most[r] = fmaxf(most[r], __shfl_xor_sync(0xffffffffu, most[r], o));
        if (lane == 0)
            part[warp][r] = most[r];
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        most[r] = part[0][r];
        for (int w = 1; w < WARPS; w++)
            most[r] = fmaxf(most[r], part[w][r]);
    }
    __syncthreads(); // part is used again

    float sum[ROWS] = {};
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        for (int j = tid; j < keys; j += THREADS) {
            const float e = expf(score[r * keys + j] - most[r]);
            score[r * keys + j] = e;
            sum[r] += e;
        }
        for (int o = 16; o; o >>= 1)
            sum[r] += __shfl_xor_sync(0xffffffffu, sum[r], o);
        if (lane == 0)
            part[warp][r] = sum[r];
    }
    __syncthreads();

    // A warp takes every eighth key, a lane two of the 64 columns.
    float2 o[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        o[r] = make_float2(0.f, 0.f);
    for (int j = warp; j < keys; j += WARPS) {
        const float2 x = __half22float2(__ldg(reinterpret_cast<const __half2 *>(v + (size_t)j * D) + lane));
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const float p = score[r * keys + j];
            o[r].x += p * x.x;
            o[r].y += p * x.y;
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        sums[warp][r][lane] = o[r];
    __syncthreads();

    if (tid < ROWS * D / 2) {
        const int r = tid / (D / 2), c = tid % (D / 2);
        if (row0 + r < rows) {
            float total = 0.f, x = 0.f, y = 0.f;
            for (int w = 0; w < WARPS; w++) {
                total += part[w][r];
                x += sums[w][r][c].x;
                y += sums[w][r][c].y;
            }
            reinterpret_cast<__half2 *>(out + (size_t)(row0 + r) * D)[c] = __floats2half2_rn(x / total, y / total);
        }
    }
}

extern "C" void attention(__half *out, const __half *q, const __half *k, const __half *v, int rows, int keys,
                          cudaStream_t stream)
{
    const size_t bytes = (size_t)ROWS * keys * sizeof(float);
    cudaFuncSetAttribute(attention_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         (int)(ROWS * MOST_KEYS * sizeof(float)));
    attention_kernel<<<(rows + ROWS - 1) / ROWS, THREADS, bytes, stream>>>(out, q, k, v, rows, keys);
}
