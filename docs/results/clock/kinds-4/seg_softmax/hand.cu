#include <cuda_runtime.h>
// A warp a segment.
__global__ void segments(float *__restrict__ out, const float *__restrict__ in, const int *__restrict__ ptr, int rows)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows)
        return;
    int from = ptr[r], to = ptr[r + 1];
    float most = -1e30f, sum = 0.0f;
    for (int k = from + lane; k < to; k += 32)
        most = fmaxf(most, in[k]);
    for (int d = 16; d; d /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    for (int k = from + lane; k < to; k += 32)
        sum += expf(in[k] - most);
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    for (int k = from + lane; k < to; k += 32)
        out[k] = expf(in[k] - most) / sum;
}
extern "C" void seg_softmax(float *out, const float *in, const int *ptr, int rows, cudaStream_t stream)
{
    segments<<<(rows + 7) / 8, 256, 0, stream>>>(out, in, ptr, rows);
}
