// What is read under a condition and written later stays as it is; the rest becomes vectors.
// transform: vectorise 16
// applies: line 10
// has: const packed<float, 4> g_v = packed_load<4>(&g[i]);
// has: p[i + k] = old - g_v.at[k];
// lacks: p_v
#include <cuda_runtime.h>
__global__ void work(float *p, const float *master, const float *g, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float old = master != NULL ? master[i] : p[i];
    p[i] = old - g[i];
}

extern "C" void entry(float *p, const float *master, const float *g, int n, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(p, master, g, n);
}
