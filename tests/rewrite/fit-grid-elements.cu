// A thread takes two elements, and the launcher counts them one by one.
// transform: fit-grid 0
// applies: line 11
// has: const int64_t work_blocks = ((int64_t)n / 2 + block.x - 1) / block.x;
// has: (unsigned int)(work_blocks > 0 && work_blocks < grid.x ? work_blocks : grid.x)
// has: #include <cstdint>
#include <cuda_fp16.h>

__global__ void work(half2 *out, const half2 *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        out[i] = __hadd2(in[i], in[i]);
}

extern "C" void entry(half *out, const half *in, int n, cudaStream_t stream)
{
    dim3 grid((n + 255) / 256), block(256);
    work<<<grid, block, 0, stream>>>((half2 *)out, (const half2 *)in, n / 2);
}
