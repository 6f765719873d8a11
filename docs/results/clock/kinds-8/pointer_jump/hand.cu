#include <cuda_runtime.h>
// Four nodes a thread, so that four are on their way at once.
__global__ void jump(int4 *__restrict__ out, const int *__restrict__ parent, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n)
        return;
    int4 at = ((const int4 *)parent)[i];
#pragma unroll
    for (int k = 0; k < 3; k++)
        at = make_int4(parent[at.x], parent[at.y], parent[at.z], parent[at.w]);
    out[i] = at;
}
extern "C" void pointer_jump(int *out, const int *parent, int n, cudaStream_t stream)
{
    jump<<<(n / 4 + 127) / 128, 128, 0, stream>>>((int4 *)out, parent, n / 4);
}
