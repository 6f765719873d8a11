#include <cuda_runtime.h>
// Eight lanes a segment, four values of each on their way.
__global__ void largest(float *__restrict__ out, const float *__restrict__ in, const int *__restrict__ ptr, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, r = i / 8, lane = i % 8;
    int from = r < rows ? ptr[r] : 0, to = r < rows ? ptr[r + 1] : 0;
    float most = -1e30f;
    int k = from + lane;
    for (; k + 24 < to; k += 32) {
        float a = in[k], b = in[k + 8], c = in[k + 16], e = in[k + 24];
        most = fmaxf(most, fmaxf(fmaxf(a, b), fmaxf(c, e)));
    }
    for (; k < to; k += 8)
        most = fmaxf(most, in[k]);
#pragma unroll
    for (int d = 4; d; d /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    if (r < rows && lane == 0)
        out[r] = most;
}
extern "C" void seg_max(float *out, const float *in, const int *ptr, int rows, cudaStream_t stream)
{
    largest<<<(rows + 15) / 16, 128, 0, stream>>>(out, in, ptr, rows);
}
