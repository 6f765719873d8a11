// Steps that grow, but not over the whole block; and memory that the caller sees.
// transform: shuffle -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, float *seen)
{
    __shared__ float data[256];
    unsigned tid = threadIdx.x;
    data[tid] = in[tid];
    __syncthreads();
    for (unsigned s = 1; s < 64; s *= 2) {
        if ((tid % (2 * s)) == 0)
            data[tid] += data[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        out[0] = data[0];
    seen[tid] = in[tid];
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if ((tid % (2 * s)) == 0)
            seen[tid] += seen[tid + s];
        __syncthreads();
    }
}

extern "C" void entry(float *out, const float *in, float *seen, cudaStream_t stream)
{
    work<<<1, 256, 0, stream>>>(out, in, seen);
}
