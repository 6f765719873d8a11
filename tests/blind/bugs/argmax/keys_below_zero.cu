// class: round 12 ; wrong because: the key of -0 is below that of 0, which compare as equal: of a row whose largest is zero the first one may be -0.
#include <cstdint>

__device__ uint64_t key_of(float x, int i)
{
    unsigned b = __float_as_uint(x);
    if (x != x)
        b = 0x7fffffffu;
    b = b & 0x80000000u ? ~b : b | 0x80000000u;
    return (uint64_t)b << 32 | (0xffffffffu - (unsigned)i);
}

__global__ void argmax_kernel(float *value, int64_t *index, const float *logits, int n)
{
    __shared__ uint64_t s[8];
    const float *x = logits + (int64_t)blockIdx.x * n;
    uint64_t best = 0;
    for (int i = threadIdx.x; i < n; i += 256) {
        uint64_t k = key_of(x[i], i);
        best = k > best ? k : best;
    }
    for (int o = 16; o; o /= 2) {
        uint64_t k = __shfl_xor_sync(0xffffffffu, best, o);
        best = k > best ? k : best;
    }
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = best;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++)
            best = s[w] > best ? s[w] : best;
        int i = (int)(0xffffffffu - (unsigned)best);
        value[blockIdx.x] = x[i];
        index[blockIdx.x] = i;
    }
}

extern "C" void argmax(float *value, int64_t *index, const float *logits, int rows, int n, cudaStream_t stream)
{
    argmax_kernel<<<rows, 256, 0, stream>>>(value, index, logits, n);
}
