#include <cuda_runtime.h>
// Of each row only the tokens stay that are at most 3 below the likeliest; a block a row, twice through it.
__global__ void keep(float *out, const float *logits, int n)
{
    __shared__ float best[256];
    const float *row = logits + (long long)blockIdx.x * n;
    float most = row[0];
    for (int k = threadIdx.x; k < n; k += 256)
        most = fmaxf(most, row[k]);
    best[threadIdx.x] = most;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s)
            best[threadIdx.x] = fmaxf(best[threadIdx.x], best[threadIdx.x + s]);
        __syncthreads();
    }
    for (int k = threadIdx.x; k < n; k += 256)
        out[(long long)blockIdx.x * n + k] = row[k] >= best[0] - 3.0f ? row[k] : -1.0e30f;
}
extern "C" void min_p(float *out, const float *logits, int rows, int n, cudaStream_t stream)
{
    keep<<<rows, 256, 0, stream>>>(out, logits, n);
}
