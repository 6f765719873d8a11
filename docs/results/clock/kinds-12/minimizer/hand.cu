#include <cuda_runtime.h>
// A block takes 128 windows of a read. Letters become groups of four, groups 15-mers, and hashes the least of five
// and of two such fives, each by way of shared memory, so that every 15-mer is hashed once.
__device__ __forceinline__ unsigned hashed(unsigned x)
{
    x *= 0x9e3779b1u;
    x ^= x >> 15;
    x *= 0x85ebca77u;
    x ^= x >> 13;
    return x;
}
__global__ void __launch_bounds__(160)
    windows(unsigned *__restrict__ out, const unsigned char *__restrict__ bases, int tiles, int len)
{
    __shared__ unsigned letter[160], four[160], hash[160];
    int t = threadIdx.x, read = blockIdx.x / tiles, first = (blockIdx.x - read * tiles) * 128;
    int at = first + t;
    letter[t] = at < len ? bases[(long long)read * len + at] : 0u;
    __syncthreads();
    if (t < 157)
        four[t] = letter[t] << 6 | letter[t + 1] << 4 | letter[t + 2] << 2 | letter[t + 3];
    __syncthreads();
    if (t < 137)
        hash[t] = hashed(four[t] << 22 | four[t + 4] << 14 | four[t + 8] << 6 | (four[t + 11] & 63u));
    __syncthreads();
    if (t < 133)
        letter[t] = min(min(min(hash[t], hash[t + 1]), min(hash[t + 2], hash[t + 3])), hash[t + 4]);
    __syncthreads();
    if (t < 128 && at < len - 23)
        out[(long long)read * (len - 23) + at] = min(letter[t], letter[t + 5]);
}
extern "C" void minimizer(unsigned *out, const unsigned char *bases, int reads, int len, cudaStream_t stream)
{
    int tiles = (len - 23 + 127) / 128;
    windows<<<reads * tiles, 160, 0, stream>>>(out, bases, tiles, len);
}
