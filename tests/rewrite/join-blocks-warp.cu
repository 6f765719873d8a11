// The lanes of a warp meet, the warps of a block do not; the kernel is told how many blocks there are.
// transform: join-blocks 4
// applies: line 10
// has: const unsigned int block = blockIdx.x * 4 + threadIdx.x / 64;
// has: if (block >= rows)
// has: const int lane = (threadIdx.x % 64) % 32, part = (threadIdx.x % 64) / 32;
// has: work_joined<<<(rows + 3) / 4, 256, 0, stream>>>(out, in, rows, d);
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int rows, int d)
{
    const int lane = threadIdx.x % 32, part = threadIdx.x / 32;
    float sum = 0.0f;
    for (int i = lane; i < d; i += 32)
        sum += in[(blockIdx.x * 2 + part) * d + i];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0)
        out[blockIdx.x * 2 + part] = sum;
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    work<<<rows, 64, 0, stream>>>(out, in, rows, d);
}
