#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cstdint>

__global__ void gather_mean(float *out, const float *x, const int *ptr, const int *col, int rows, int d)
{
    int r = blockIdx.x;
    int f = threadIdx.x;
    if (r >= rows) return;
    for (; f < d; f += blockDim.x) {
        float s = 0.f;
        for (int e = ptr[r]; e < ptr[r + 1]; e++)
            s += x[(int64_t)col[e] * d + f];
        int deg = ptr[r + 1] - ptr[r];
        out[(int64_t)r * d + f] = deg > 0 ? s / deg : 0.f;
    }
}
extern "C" void csr_mean(float *out, const float *x, const int *ptr, const int *col, int rows, int d, cudaStream_t stream)
{
    gather_mean<<<rows, 128, 0, stream>>>(out, x, ptr, col, rows, d);
}
