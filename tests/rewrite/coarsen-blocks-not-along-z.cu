// No thread asks for its place along z: there are no neighbours.
// transform: coarsen-blocks 204
// leaves
#include <cuda_runtime.h>
__global__ void rows(float *out, const float *in, int d)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += 32)
        sum += in[row * d + i];
    for (int o = 16; o > 0; o /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, o);
    if (threadIdx.x == 0)
        out[row] = sum;
}
extern "C" void entry(float *out, const float *in, int n, int d, int m, cudaStream_t stream)
{
    dim3 grid(1, n / 4, m);
    dim3 block(32, 4);
    rows<<<grid, block, 0, stream>>>(out, in, d);
}
