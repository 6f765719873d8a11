// Striped: a thread's items are no neighbours.
// transform: whole-tiles -1
// leaves
#include <cub/block/block_load.cuh>

__global__ void work(float *out, const float *in, int n)
{
    using Load = cub::BlockLoad<float, 128, 4, cub::BLOCK_LOAD_STRIPED>;
    float items[4];
    Load().Load(in + blockIdx.x * 512, items, n - blockIdx.x * 512, 0.0f);
    for (int i = 0; i < 4; i++)
        if (blockIdx.x * 512 + i * 128 + threadIdx.x < n)
            out[blockIdx.x * 512 + i * 128 + threadIdx.x] = 2.0f * items[i];
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    work<<<(n + 511) / 512, 128, 0, stream>>>(out, in, n);
}
