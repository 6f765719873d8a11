// The grid counts rows of the largest block, which a smaller one would leave out.
// transform: block-size -1
// leaves
#include <algorithm>
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int d)
{
    const int at = blockIdx.y * blockDim.x + threadIdx.x;
    for (int k = 0; k < 1 && at < d; k++)
        out[blockIdx.x * d + at] = in[blockIdx.x * d + at] + 1.0f;
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    dim3 grid(rows, (d + 1023) / 1024);
    dim3 block(std::min(d, 1024));
    work<<<grid, block, 0, stream>>>(out, in, d);
}
