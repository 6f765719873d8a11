// Two runs of one loop through one pointer, which never meet; the bytes that are read are in a struct.
// transform: join-accesses 0
// applies: line 19
// has: near_store(&out[0], out_near);
// has: near_store(&out[0 + 16], out_near_2);
#include <cuda_fp16.h>
#include <cuda_runtime.h>

struct packed_block { __half scale; unsigned char bytes[16]; };

__global__ void unpack(__half *y, const packed_block *x, int blocks)
{
    int block = 8 * blockIdx.x + threadIdx.x % 8, part = threadIdx.x / 8;
    if (block >= blocks)
        return;
    const float d = __half2float(x[block].scale);
    __half *out = y + 32 * block + 4 * part;
    const unsigned char *q = x[block].bytes + 4 * part;
    for (int l = 0; l < 4; ++l) {
        out[l] = __float2half(d * ((q[l] & 15) - 8));
        out[l + 16] = __float2half(d * ((q[l] >> 4) - 8));
    }
}

extern "C" void entry(__half *y, const unsigned char *x, int blocks, cudaStream_t stream)
{
    unpack<<<(blocks + 7) / 8, 32, 0, stream>>>(y, (const packed_block *)x, blocks);
}
