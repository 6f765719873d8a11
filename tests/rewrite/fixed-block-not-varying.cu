// The launcher chooses the block by the row's length.
// transform: fixed-block -1
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[blockIdx.x * d + i] = 2.0f * in[blockIdx.x * d + i];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    int threads = d < 1024 ? 128 : 256;
    work<<<n, threads, 0, stream>>>(out, in, n, d);
}
