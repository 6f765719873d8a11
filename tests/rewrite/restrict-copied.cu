// What a pointer is copied to may be written through.
// transform: restrict 0
// applies: line 7
// has: scale(float *__restrict__ out, const float *__restrict__ in
#include <cuda_runtime.h>

__global__ void scale(float *out, const float *in, int n)
{
    float *to[2];
    to[0] = out;
    to[1] = out + n;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        to[blockIdx.x][i] = in[i];
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    scale<<<2, 256, 0, stream>>>(out, in, n);
}
