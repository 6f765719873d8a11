// Only what is stored is asked about: what further items load must be what the grid's own threads loaded.
// transform: coarsen-threads 2
// applies: line 10
// has: if ((n / 128) % 2 == 0)
// has: work<<<n / 128, 128, 0, stream>>>
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    if (i < n)
        out[i] = x * d;
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n / 128, 128, 0, stream>>>(out, in, n, d);
}
