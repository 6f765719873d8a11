#include <cuda_runtime.h>
// Each node's ancestor four steps up; a thread a node.
__global__ void jump(int *out, const int *parent, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int at = i;
    for (int k = 0; k < 4; k++)
        at = parent[at];
    out[i] = at;
}
extern "C" void pointer_jump(int *out, const int *parent, int n, cudaStream_t stream)
{
    jump<<<(n + 255) / 256, 256, 0, stream>>>(out, parent, n);
}
