// Each element through a pointer of its own, of a type that the file calls otherwise. A function for the host has the
// kernel's name, and another asks how many of its blocks fit.
// transform: vectorise 16
// applies: line 18
// has: int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
// has: const packed<__nv_bfloat16, 8> from_v = packed_load<8>(&from[0]);
// has: add_v.at[k] + from_v.at[k]
// has: packed_store(&to[0], to_v);
// has: C % 8 == 0
// lacks: n % 8
#include <cstdint>
#include <cuda_bf16.h>

typedef __nv_bfloat16 real;

__global__ void embed(real *out, const int *id, const real *table, const real *place, int n, int T, int C)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * C) {
        int row = i / C, c = i % C;
        const real *from = table + id[row] * C + c;
        const real *add = &place[row % T * C + c];
        real *to = out + row * C + c;
        *to = *add + *from;
    }
}

static int embed(int n)
{
    return (n + 255) / 256;
}

static int fitting()
{
    int blocks = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, embed, 256, 0);
    return blocks;
}

extern "C" void entry(__nv_bfloat16 *out, const int *id, const __nv_bfloat16 *table, const __nv_bfloat16 *place, int n,
                      int T, int C, cudaStream_t stream)
{
    embed<<<embed(n * C), 256, 0, stream>>>(out, id, table, place, n, T, C);
}
