// The counter begins where the row does, and ends with it, or with all rows.
// transform: plain-loop 0
// applies: line 12
// has: for (int at = threadIdx.x; at < min(d, n - (blockIdx.x*d)); at += blockDim.x) {
// has: const int j = blockIdx.x*d + at;
// has: for (int at = threadIdx.x; at < d; at += blockDim.x) {
#include <cuda_runtime.h>
__global__ void norm(float *out, const float *in, int d, int n)
{
    const int start = blockIdx.x*d + threadIdx.x, end = min(blockIdx.x*d + d, n);
    float sum = 0.0f;
    for (int j = start; j < end; j += blockDim.x) {
        sum += in[j];
    }
    for (int j = blockIdx.x * d + threadIdx.x; j < (blockIdx.x + 1) * d; j += blockDim.x) {
        out[j] = in[j] - sum;
    }
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    norm<<<rows, 256, 0, stream>>>(out, in, d, rows * d);
}
