// Writes outside the loop too, which every block would repeat.
// transform: split-row -1
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[blockIdx.x * d + i] = in[blockIdx.x * d + i];
    out[n * d]++;
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
