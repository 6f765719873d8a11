// Running maxima from a column on that is no first of a move, and a second loop that changes rows in place; threads
// beyond the last row stay until both are done.
// transform: stage-loop 32
// applies: line 21
// has: const bool inside = (int)(blockIdx.x * blockDim.x + threadIdx.x) < rows;
// has: const int r = inside ? blockIdx.x * blockDim.x + threadIdx.x : rows - 1;
// has: until = d - from < 32 - from % 32 ? d : from + 32 - from % 32;
// has: in[(warp_row + turn) * d + until + lane]
// has: out_part[threadIdx.x][k - from] = most;
// has: scaled_part[threadIdx.x][c - from] *= most;
// has: if (!inside)
// lacks: if (r >= rows)
#include <cuda_runtime.h>

__global__ void work(float *out, float *scaled, float *last, const float *in, int rows, int d)
{
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float most = in[(long long)r * d];
    for (int k = 1; k < d; k++) {
        most = fmaxf(most, in[(long long)r * d + k]);
        out[(long long)r * d + k] = most;
    }
    for (int c = 0; c < d; c++)
        scaled[(long long)r * d + c] *= most;
    last[r] = most;
}

extern "C" void entry(float *out, float *scaled, float *last, const float *in, int rows, int d, cudaStream_t stream)
{
    work<<<(rows + 63) / 64, 64, 0, stream>>>(out, scaled, last, in, rows, d);
}
