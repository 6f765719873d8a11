#include <cuda_runtime.h>
// A warp 128 values, four a lane; sums go up by exchanges.
__device__ __forceinline__ unsigned sign(unsigned word)
{
    return (word & 4095) >> 1 ^ -(word & 1);
}
__global__ void unpack(uint4 *__restrict__ out, const unsigned *__restrict__ first, const unsigned *__restrict__ packed,
                       int n)
{
    int lane = threadIdx.x % 32, i = blockIdx.x * 8 + threadIdx.x / 32;
    if (i >= n)
        return;
    const unsigned *own = packed + 48ll * i + lane / 2 * 3 + lane % 2;
    unsigned low = own[0], high = own[1];
    unsigned long long bits = ((unsigned long long)high << 32 | low) >> (lane % 2 ? 16 : 0);
    unsigned a = sign((unsigned)bits), b = a + sign((unsigned)(bits >> 12)), c = b + sign((unsigned)(bits >> 24)),
             d = c + sign((unsigned)(bits >> 36)), sum = d;
#pragma unroll
    for (int o = 1; o < 32; o *= 2) {
        unsigned other = __shfl_up_sync(~0u, sum, o);
        sum += lane >= o ? other : 0;
    }
    sum += first[i] - d;
    out[32ll * i + lane] = make_uint4(sum + a, sum + b, sum + c, sum + d);
}
extern "C" void delta_unpack(unsigned *out, const unsigned *first, const unsigned *packed, int n, cudaStream_t stream)
{
    unpack<<<(n + 7) / 8, 256, 0, stream>>>((uint4 *)out, first, packed, n);
}
