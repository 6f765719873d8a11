#include <cuda_fp16.h>
#include <cstdint>

__global__ void slot_scatter_kernel(__half *cache, const __half *rows, const int64_t *slot, int d)
{
    int64_t to = slot[blockIdx.x];
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        cache[to * d + i] = rows[(int64_t)blockIdx.x * d + i];
}

extern "C" void slot_scatter(__half *cache, const __half *rows, const int64_t *slot, int tokens, int d,
                             cudaStream_t stream)
{
    slot_scatter_kernel<<<tokens, 128, 0, stream>>>(cache, rows, slot, d);
}
