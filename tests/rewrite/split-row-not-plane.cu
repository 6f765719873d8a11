// grid.y is taken.
// transform: split-row -1
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[(blockIdx.x + blockIdx.y) * d + i] = in[blockIdx.x * d + i];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    dim3 grid(n, 2);
    work<<<grid, 128, 0, stream>>>(out, in, n, d);
}
