#include <cuda_runtime.h>
// The largest value of each segment; a block of a warp a segment.
__global__ void largest(float *out, const float *in, const int *ptr)
{
    float most = -1e30f;
    for (int k = ptr[blockIdx.x] + threadIdx.x; k < ptr[blockIdx.x + 1]; k += 32)
        most = fmaxf(most, in[k]);
    for (int d = 16; d; d /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    if (threadIdx.x == 0)
        out[blockIdx.x] = most;
}
extern "C" void seg_max(float *out, const float *in, const int *ptr, int rows, cudaStream_t stream)
{
    largest<<<rows, 32, 0, stream>>>(out, in, ptr);
}
