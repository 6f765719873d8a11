// The pointer's name means other memory in the second loop; in the third the row has changed.
// transform: register-cache -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, float *in, int d)
{
    const float *x = in + blockIdx.x * d;
    float sum = 0;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        const float v = x[i];
        sum += v;
    }
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        in[blockIdx.x * d + i] = sum;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        sum += x[i];
    x = out + blockIdx.x * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        sum += x[i];
    out[blockIdx.x * d] = sum;
}

extern "C" void entry(float *out, float *in, int rows, int d, cudaStream_t stream)
{
    work<<<rows, 256, 0, stream>>>(out, in, d);
}
