// As many threads as elements: fewer, or the last ones would begin behind what an int holds.
// transform: vectorise 16
// applies: line 9
// has: work_vec4<<<(n + 1023) / 1024, 256, 0, stream>>>(out, in, n);
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        out[i] = in[i] + 1.0f;
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    work<<<(n + 255) / 256, 256, 0, stream>>>(out, in, n);
}
