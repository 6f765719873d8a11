// Half as many threads as a block has elements: the kernel nowhere asks how many there are.
// transform: block-size 128
// leaves
#include <cstdint>

#define ELEMENTS 512U

__global__ void work(float *out, const float *in, int n, int d)
{
    __shared__ float all[ELEMENTS];
    in += blockIdx.x * ELEMENTS + threadIdx.x;
    out += blockIdx.x * ELEMENTS + threadIdx.x;
    all[threadIdx.x + 0] = in[0];
    all[threadIdx.x + ELEMENTS / 2] = in[ELEMENTS / 2];
    __syncthreads();
    out[0] = all[2 * threadIdx.x];
    out[ELEMENTS / 2] = all[2 * threadIdx.x + 1];
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 256, 0, stream>>>(out, in, n, d);
}
