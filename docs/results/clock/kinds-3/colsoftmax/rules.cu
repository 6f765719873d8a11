/* Astra 0.1.0: colsoftmax, 13.36x the original's speed (geometric mean of 2 workloads, modelled on NVIDIA H200)
 * original  930d8ed8dbcceb33f5eae3fc852577ae9575e646bd7398b0d1e12a1e7d2f5bd1
 * task      9607a4c54b10219d8db13343b846880cfeb93200c34449f67d187137f40d3ba2
 * suite     3b6bd8616b42c909440e62fd278e6461310472fc52f2f8754270af809917b53e
 * seeds     1, hidden 7955435184310188
 * compiler  NVRTC 13.0
 * judged    fdbef0eb0ca48fbedd96923e4c490851183f5eb07b3d7f9838671833f1cb57d7
 * SHA-256 each; judged: of all that follows this comment. `astra verify` repeats the judgement. */
#include <cuda_runtime.h>
__global__ void softmax(float *out, const float *in, int rows, int d)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= d)
        return;
    float m = -INFINITY;
    float s = 0;
    for (int r = 0; r < rows; r++) {
        float x = in[(size_t)r * d + col];
        if (x > m)
            m = x;
    }
    for (int r = 0; r < rows; r++)
        s += expf(in[(size_t)r * d + col] - m);
    for (int r = 0; r < rows; r++)
        out[(size_t)r * d + col] = expf(in[(size_t)r * d + col] - m) / s;
}

// As softmax, with its loops in 32 parts.
__global__ void softmax_split(float *out, const float *in, int rows, int d)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    const bool inside = !(col >= d);
    float m = -INFINITY;
    float s = 0;
    float online_max = -3.402823466e38f, online_sum = 0; // over this thread's x: sum of exp(x - online_max)
    for (int r = (int)threadIdx.y; inside && r < rows; r += 32) {
        {
            const float online_x = in[(size_t)r * d + col], online_above = online_x - online_max;
            const float online_scale = __expf(online_above > 0 ? -online_above : online_above);
            online_sum = online_above > 0 ? online_sum * online_scale + 1 : online_sum + online_scale;
            online_max = online_above > 0 ? online_x : online_max;
        }
        float x = in[(size_t)r * d + col];
        if (x > m)
            m = x;
    }
    __shared__ float m_parts_1[32][32];
    m_parts_1[threadIdx.y][threadIdx.x] = m;
    __syncthreads();
    m = m_parts_1[0][threadIdx.x];
#pragma unroll
    for (int other = 1; other < 32; other++) {
        m = m_parts_1[other][threadIdx.x] > m ? m_parts_1[other][threadIdx.x] : m;
    }
    s += online_sum * __expf(online_max - m);
    __shared__ float s_parts_2[32][32];
    s_parts_2[threadIdx.y][threadIdx.x] = s;
    __syncthreads();
    s = s_parts_2[0][threadIdx.x];
#pragma unroll
    for (int other = 1; other < 32; other++) {
        s += s_parts_2[other][threadIdx.x];
    }
    const float inverse_s = 1.0f / s;
    for (int r = (int)threadIdx.y; inside && r < rows; r += 32)
        out[(size_t)r * d + col] = __expf(in[(size_t)r * d + col] - m) * inverse_s;
    if (threadIdx.y > 0 || !inside)
        return;
}

extern "C" void colsoftmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    // Several threads share a long loop.
    if (rows >= 64) {
        softmax_split<<<((d + 63) / 64) * 2, dim3(32, 32), 0, stream>>>(out, in, rows, d);
    } else {
        softmax<<<(d + 63) / 64, 64, 0, stream>>>(out, in, rows, d);
    }
}
