// What divides changes.
// transform: fast-division 0
// fact: n low 1 high 4096
// fact: width low 1 high 512
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int n, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int by = width; if (i % 2) by = n; const int x = i / by;
    out[i] = in[i] + x;
}

extern "C" void entry(float *out, const float *in, int n, int width, cudaStream_t stream)
{
    work<<<(n + 255) / 256, 256, 0, stream>>>(out, in, n, width);
}
