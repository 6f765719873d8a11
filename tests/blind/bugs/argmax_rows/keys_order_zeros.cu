// WRONG: number and place are packed into one 64-bit key whose order puts -0 below +0; a row whose largest is zero with -0 in front of +0 gets the later place.
#include <cstdint>

__global__ void argmax_kernel(int *index, const float *in, int d)
{
    __shared__ unsigned long long s[16];
    const float *x = in + (int64_t)blockIdx.x * d;
    unsigned long long best = 0;
    for (int i = threadIdx.x; i < d; i += 512) {
        unsigned b = __float_as_uint(x[i]);
        b ^= (unsigned)((int)b >> 31) | 0x80000000u;
        unsigned long long key = (unsigned long long)b << 32 | (0xffffffffu - (unsigned)i);
        best = key > best ? key : best;
    }
    for (int k = 16; k; k >>= 1) {
        unsigned long long o = __shfl_xor_sync(~0u, best, k);
        best = o > best ? o : best;
    }
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = best;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 16; w++)
            best = s[w] > best ? s[w] : best;
        index[blockIdx.x] = (int)(0xffffffffu - (unsigned)best);
    }
}

extern "C" void argmax_rows(int *index, const float *in, int rows, int d, cudaStream_t stream)
{
    argmax_kernel<<<rows, 512, 0, stream>>>(index, in, d);
}
