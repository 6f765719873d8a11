// No bound check: a copy is launched where the grid is whole fours of blocks.
// transform: coarsen-threads 4
// applies: line 11
// has: if (blocks.x % 4 == 0)
// has: work_items4<<<dim3((blocks.x + 3) / 4, blocks.y, blocks.z), 128, 0, stream>>>(out, in, d)
// has: work<<<blocks, 128, 0, stream>>>(out, in, d)
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * d;
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    dim3 blocks;
    blocks.x = n / 128;
    work<<<blocks, 128, 0, stream>>>(out, in, d);
}
