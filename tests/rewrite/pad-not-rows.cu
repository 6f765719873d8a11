// Only rows are read by neighbouring threads, and columns of what has a length of its own.
// transform: pad -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in)
{
    __shared__ float rows[32][32];
    __shared__ float odd[32][33];
    rows[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    odd[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = rows[31 - threadIdx.y][threadIdx.x] + odd[threadIdx.x][threadIdx.y];
}

extern "C" void entry(float *out, const float *in, cudaStream_t stream)
{
    work<<<1, dim3(32, 32), 0, stream>>>(out, in);
}
