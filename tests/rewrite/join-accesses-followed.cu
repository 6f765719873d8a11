// Elements that are reached as *(p + i).
// transform: join-accesses 0
// applies: line 14
// has: near_store(&to[0], to_near);
// has: to_near.at[i] = part[i];
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void spread(__half *out, const unsigned *in)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    __half part[8], *to = out + 8 * at;
    for (int i = 0; i < 8; i++) part[i] = __ushort2half_rn((in[at] >> 4 * i) & 15);
    for (int i = 0; i < 8; ++i) {
        *(to + i) = part[i];
    }
}

extern "C" void entry(__half *out, const unsigned *in, int n, cudaStream_t stream)
{
    spread<<<n / 256, 256, 0, stream>>>(out, in);
}
