// A class of the file's own, which may arrange items as it likes.
// transform: whole-tiles -1
// leaves
#include <cub/block/block_reduce.cuh>

template <int N> struct Rows {
    __device__ void Load(const float *from, float (&items)[N], int valid)
    {
        for (int i = 0; i < N; i++)
            items[i] = i * 128 + threadIdx.x < valid ? from[i * 128 + threadIdx.x] : 0.0f;
    }
};
using Tile = Rows<4>;

__global__ void work(float *out, const float *in, int n)
{
    using Reduce = cub::BlockReduce<float, 128>;
    __shared__ typename Reduce::TempStorage storage;
    float items[4];
    Tile().Load(in + blockIdx.x * 512, items, n - blockIdx.x * 512);
    float sum = Reduce(storage).Sum(items);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    work<<<(n + 511) / 512, 128, 0, stream>>>(out, in, n);
}
