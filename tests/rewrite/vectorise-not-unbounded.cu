// No bound check: the grid is exact, and would not be any more.
// transform: vectorise -1
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 128, 0, stream>>>(out, in, n, d);
}
