// The loop counts in steps of the block, and each turn adds the thread's number.
// transform: plain-loop 0
// applies: line 12
// has: for (int i = threadIdx.x; i < d; i += blockDim.x) {
// has: for (int k = threadIdx.x; k < d; k += lanes) {
// lacks: break
// lacks: col0
#include <cuda_runtime.h>
__global__ void scale(float *out, const float *in, int d)
{
    const int lanes = blockDim.x;
    for (int col0 = 0; col0 < d; col0 += blockDim.x) {
        const int i = col0 + threadIdx.x;
        if (i >= d) {
            break;
        }
        out[blockIdx.x * d + i] = in[blockIdx.x * d + i];
    }
    for (int first = 0; first < d; first += lanes) {
        int k = threadIdx.x + first;
        if (k < d) {
            out[blockIdx.x * d + k] *= 2.0f;
        }
    }
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    scale<<<rows, 256, 0, stream>>>(out, in, d);
}
