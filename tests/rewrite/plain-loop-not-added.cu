// Threads meet in the turn; the turn's own counter is asked for; nothing asks whether the last elements exist.
// transform: plain-loop -1
// leaves
#include <cuda_runtime.h>
__global__ void work(float *out, const float *in, int d)
{
    __shared__ float part[256];
    for (int base = 0; base < d; base += blockDim.x) {
        int i = base + threadIdx.x;
        if (i < d) {
            part[threadIdx.x] = in[i];
            __syncthreads();
            out[i] = part[threadIdx.x ^ 1];
        }
    }
    for (int base = 0; base < d; base += blockDim.x) {
        int i = base + threadIdx.x;
        if (i < d) {
            out[i] += base;
        }
    }
    for (int base = 0; base < d; base += blockDim.x) {
        int i = base + threadIdx.x;
        out[i] += 1.0f;
        out[i] *= 3.0f;
    }
}

extern "C" void entry(float *out, const float *in, int d, cudaStream_t stream)
{
    work<<<1, 256, 0, stream>>>(out, in, d);
}
