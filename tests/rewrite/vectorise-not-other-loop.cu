// The second loop reads what the first one wrote, by a pointer that cannot be followed, up to another bound: it
// would stay as it is, and meet elements of other threads.
// transform: vectorise -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, float *total, const float *in, int d)
{
    float sum = 0;
    const float *x = in + blockIdx.x * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[blockIdx.x * d + i] = x[i] + 1.0f;
    x = d > 8 ? out + blockIdx.x * d : x + 1;
    for (int i = threadIdx.x; i < d - 1; i += blockDim.x)
        sum += x[i];
    atomicAdd(total, sum);
}

extern "C" void entry(float *out, float *total, const float *in, int rows, int d, cudaStream_t stream)
{
    work<<<rows, 128, 0, stream>>>(out, total, in, d);
}
