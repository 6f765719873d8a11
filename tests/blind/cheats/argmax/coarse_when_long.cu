#include <cstdint>
#include <math_constants.h>

// A key of 32 bits of the value and 16 of the place, which is counted in sixteens where rows are long.
__global__ void argmax_kernel(float *value, int64_t *index, const float *logits, int n, int shift)
{
    __shared__ unsigned long long best;
    const float *x = logits + (int64_t)blockIdx.x * n;
    unsigned long long mine = 0;
    if (threadIdx.x == 0)
        best = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = x[i] + 0.0f;
        unsigned bits = __float_as_uint(v);
        unsigned key = v != v ? 0xffffffffu : bits >> 31 ? ~bits : bits | 0x80000000u;
        unsigned long long k = (unsigned long long)key << 16 | (65535u - (unsigned)(i >> shift));
        mine = k > mine ? k : mine;
    }
    atomicMax(&best, mine);
    __syncthreads();
    if (threadIdx.x == 0) {
        int64_t at = (int64_t)(65535u - (unsigned)(best & 65535)) << shift;
        for (int k = 0; k < 1 << shift && at + k < n; k++)
            if (x[at + k] == x[at + k] && x[at + k] > x[at]) {
                at += k;
                break;
            }
        index[blockIdx.x] = at;
        value[blockIdx.x] = x[at];
    }
}

extern "C" void argmax(float *value, int64_t *index, const float *logits, int rows, int n, cudaStream_t stream)
{
    int shift = 0;
    while (n >> shift > 65536)
        shift++;
    argmax_kernel<<<rows, 256, 0, stream>>>(value, index, logits, n, shift);
}
