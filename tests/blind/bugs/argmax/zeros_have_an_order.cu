// expect: wrong
// row 12: Keys of 64 bits, the float made an ordered integer above the place turned round: -0 is below +0, where the original calls them equal and takes the first. logits = (-1, -0, +0), rows = 1, n = 3: the place is 2, should be 1.
#include <cstdint>

__device__ uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

__global__ void argmax_kernel(float *value, int64_t *index, const float *logits, int n)
{
    __shared__ uint64_t part[16];
    const float *x = logits + (int64_t)blockIdx.x * n;
    uint64_t best = 0;
    for (int i = threadIdx.x; i < n; i += 512) {
        float v = x[i];
        uint32_t bits = __float_as_uint(v);
        bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
        if (v != v)
            bits = ~0u;
        best = larger(best, (uint64_t)bits << 32 | (uint32_t)~i);
    }
    for (int s = 16; s; s /= 2)
        best = larger(best, __shfl_xor_sync(~0u, best, s));
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = best;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < 16; i++)
            best = larger(best, part[i]);
        int at = (int)~(uint32_t)best;
        value[blockIdx.x] = x[at];
        index[blockIdx.x] = at;
    }
}

extern "C" void argmax(float *value, int64_t *index, const float *logits, int rows, int n, cudaStream_t stream)
{
    argmax_kernel<<<rows, 512, 0, stream>>>(value, index, logits, n);
}
