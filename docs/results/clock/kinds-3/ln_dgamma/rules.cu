/* Astra 0.1.0: ln_dgamma, 23.32x the original's speed (geometric mean of 2 workloads, modelled on NVIDIA H200)
 * original  e3a4c10a113fa894fa41c82118e5cdf56510cc97a94e7c66b8e11a0c263a812b
 * task      ad56fafdb081da3614ad06c5c3ffbfb09e40055a59e4190ca3184acd19c2cd33
 * suite     0f40867f038dbea4467ac957ddc9954ece70cd32f5c97e0f6c3191f7871fb78d
 * seeds     1, hidden 2097888461916665
 * compiler  NVRTC 13.0
 * judged    8acd2bc122424c4bd6e3e7bb8873153515bf283d5140181fa86492850972a93e
 * SHA-256 each; judged: of all that follows this comment. `astra verify` repeats the judgement. */
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cstdint>

__global__ void dgamma_kernel(float *dgamma, float *dbeta, const __half *dy, const __half *x, const float *mean, const float *rstd, int rows, int d)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= d)
        return;
    float g = 0.0f, b = 0.0f;
    for (int r = 0; r < rows; ++r) {
        float v = __half2float(dy[(size_t)r * d + col]);
        g += v * (__half2float(x[(size_t)r * d + col]) - mean[r]) * rstd[r];
        b += v;
    }
    dgamma[col] = g;
    dbeta[col] = b;
}

// As dgamma_kernel, with its loops in 128 parts.
__global__ void __cluster_dims__(1, 8, 1) dgamma_kernel_split(float *dgamma, float *dbeta, const __half *dy, const __half *x, const float *mean, const float *rstd, int rows, int d)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    const bool inside = !(col >= d);
    float g = 0.0f, b = 0.0f;
    for (int r = (int)(blockIdx.y * 16 + threadIdx.y); inside && r < rows; r += 128) {
        float v = __half2float(dy[(size_t)r * d + col]);
        g += v * (__half2float(x[(size_t)r * d + col]) - mean[r]) * rstd[r];
        b += v;
    }
    __shared__ float g_parts[16][32];
    __shared__ float b_parts[16][32];
    g_parts[threadIdx.y][threadIdx.x] = g;
    b_parts[threadIdx.y][threadIdx.x] = b;
    __syncthreads();
    if (threadIdx.y == 0) {
#pragma unroll
        for (int other = 1; other < 16; other++) {
            g += g_parts[other][threadIdx.x];
            b += b_parts[other][threadIdx.x];
        }
        g_parts[0][threadIdx.x] = g;
        b_parts[0][threadIdx.x] = b;
    }
    cooperative_groups::this_cluster().sync();
    if (blockIdx.y + threadIdx.y == 0) {
#pragma unroll
        for (int other = 1; other < 8; other++) {
            g += cooperative_groups::this_cluster().map_shared_rank(g_parts[0], other)[threadIdx.x];
            b += cooperative_groups::this_cluster().map_shared_rank(b_parts[0], other)[threadIdx.x];
        }
    }
    cooperative_groups::this_cluster().sync(); // no block ends before it has been read
    if (threadIdx.y + blockIdx.y > 0 || !inside)
        return;
    dgamma[col] = g;
    dbeta[col] = b;
}
extern "C" void ln_dgamma(float *dgamma, float *dbeta, const __half *dy, const __half *x, const float *mean, const float *rstd, int rows, int d, cudaStream_t stream)
{
    // Several threads share a long loop.
    if (rows >= 256) {
        dgamma_kernel_split<<<dim3(((d + 127) / 128) * 4, 8), dim3(32, 16), 0, stream>>>(dgamma, dbeta, dy, x,
            mean, rstd, rows, d);
    } else {
        dgamma_kernel<<<(d + 127) / 128, 128, 0, stream>>>(dgamma, dbeta, dy, x, mean, rstd, rows, d);
    }
}
