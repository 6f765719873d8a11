/* Astra 0.1.0: csr_mean, 1.22x the original's speed (geometric mean of 2 workloads, modelled on NVIDIA H200)
 * original  2a5400c532bb27aac8cb6d447091e06ea0aadd85a787e3398caf701f654a0f03
 * task      e61bfd197cb62ac9fe5f1d9ef114d40ba500b41e50dba75e7694fc351f9bd922
 * suite     012f0ae343a7468789c0e7fb1e2d5719cb085f45e53da1034f679191806f9940
 * seeds     1, hidden 2921238135945447
 * compiler  NVRTC 13.0
 * judged    5a3a1f54a65775661d18b017f96273978de513b77cd1756c01cf2eb8762ca71e
 * SHA-256 each; judged: of all that follows this comment. `astra verify` repeats the judgement. */
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cstdint>

__global__ void gather_mean(float *__restrict__ out, const float *__restrict__ x, const int *__restrict__ ptr,
                            const int *__restrict__ col, int rows, int d)
{
    int r = blockIdx.x;
    if (r >= rows) return;
    for (int f = threadIdx.x; f < d; f += blockDim.x) {
        float s = 0.f;
        for (int e = ptr[r]; e < ptr[r + 1]; e++)
            s += x[(int64_t)col[e] * d + f];
        int deg = ptr[r + 1] - ptr[r];
        out[(int64_t)r * d + f] = deg > 0 ? s / deg : 0.f;
    }
}
extern "C" void csr_mean(float *out, const float *x, const int *ptr, const int *col, int rows, int d, cudaStream_t stream)
{
    // As many threads as a row has work for, in whole warps.
    const int threads = d >= 256 ? 256 : ((int)(d) + 31) / 32 * 32;
    gather_mean<<<rows, threads, 0, stream>>>(out, x, ptr, col, rows, d);
}
