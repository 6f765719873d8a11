// A row waits in shared memory, its exponentials too: the loop between the two that move vectors keeps to the elements
// of its thread.
// transform: vectorise 16
// applies: line 13
// has: vals[i + k] = expf(vals[i + k] - most);
// has: packed_store(&out[row + i], out_v);
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int d, float most)
{
    extern __shared__ float vals[];
    int row = blockIdx.x * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        vals[i] = in[row + i];
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        vals[i] = expf(vals[i] - most);
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[row + i] = vals[i] * 2.0f;
}

extern "C" void entry(float *out, const float *in, int rows, int d, float most, cudaStream_t stream)
{
    work<<<rows, 128, d * sizeof(float), stream>>>(out, in, d, most);
}
