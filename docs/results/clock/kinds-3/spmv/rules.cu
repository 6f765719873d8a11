/* Astra 0.1.0: spmv, 4.38x the original's speed (geometric mean of 2 workloads, modelled on NVIDIA H200)
 * original  206efce32eb4875d9b6218c2d6a05d6be58c4eda34683c2bc0fd3cacdd6b1485
 * task      c509f9098bdf1224cf2d7197fa9c8c2eda939205d9ac0958a752557d7ad553a2
 * suite     ea15d5b079dd88b240a4d05e06356c8d6b22fb4cc3e8a3d56b2b576ef727dd86
 * seeds     1, hidden 1084691872632422
 * compiler  NVRTC 13.0
 * judged    487327f35dfd80ed0d7c419988a03d616d6f97838e0ba566b2fa772d255e4bf9
 * SHA-256 each; judged: of all that follows this comment. `astra verify` repeats the judgement. */
#include <cuda_runtime.h>
__global__ void spmv(float *y, const float *val, const float *x, const int *ptr, const int *col, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    const bool inside = (row < rows);
    {
        float dot = 0.0f;
        int row_start = inside ? ptr[row] : 0;
        int row_end = inside ? ptr[row + 1] : 0;
        for (int jj = row_start + (int)threadIdx.y; inside && jj < row_end; jj += 32)
            dot += val[jj] * x[col[jj]];
        __shared__ float dot_parts[32][32];
        dot_parts[threadIdx.y][threadIdx.x] = dot;
        __syncthreads();
        if (threadIdx.y > 0 || !inside)
            return;
#pragma unroll
        for (int other = 1; other < 32; other++) {
            dot += dot_parts[other][threadIdx.x];
        }
        y[row] = dot;
    }
}
extern "C" void spmv_run(float *y, const float *val, const float *x, const int *ptr, const int *col, int rows, cudaStream_t stream)
{
    spmv<<<((rows + 255) / 256) * 8, dim3(32, 32), 0, stream>>>(y, val, x, ptr, col, rows);
}
