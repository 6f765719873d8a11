// The block is worked out by the launcher: as many threads as the row has work for may stand in its place.
// transform: block-size 10512
// applies: line 17
// has: const int threads = d >= 512 ? 512 : ((int)(d) + 31) / 32 * 32;
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int d)
{
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[blockIdx.x * d + i] = in[blockIdx.x * d + i] + 1.0f;
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    dim3 grid(rows);
    dim3 block(d < 1024 ? d : 1024);
    work<<<grid, block, 0, stream>>>(out, in, d);
}
