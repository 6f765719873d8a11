// A template argument that is the block changes along, with the array that it is the length of; so does the grid
// that follows a dim3 by its name.
// transform: block-size 512
// applies: line 25
// has: dim3 const block(512);
// has: work<float, 512><<<(rows + block.x / 32 - 1) / (block.x / 32), block, 0, stream>>>
#include <cuda_runtime.h>

template <typename T, int THREADS> __global__ void work(T *out, const T *in, int rows, int d)
{
    __shared__ T first[THREADS];
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows)
        return;
    T x = 0;
    for (int i = threadIdx.x % 32; i < d; i += 32)
        x += in[row * d + i];
    first[threadIdx.x] = x;
    __syncwarp();
    out[row] = first[threadIdx.x / 32 * 32] + first[threadIdx.x / 32 * 32 + 1];
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    dim3 const block(128);
    work<float, 128><<<(rows + block.x / 32 - 1) / (block.x / 32), block, 0, stream>>>(out, in, rows, d);
}
