// Rows of blocks along y lie in other memory, and of numbers whose type has two words.
// transform: stage-loop 16
// applies: line 15
// has: (signed char)0
// has: (long long)blockIdx.y * d * keys
// has: sum += key_part[threadIdx.x][c - from];
#include <cstdint>

__global__ void sums(int *out, const signed char *key, int keys, int d)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= keys)
        return;
    int sum = 0;
    for (int c = 0; c < d; c++)
        sum += key[((long long)blockIdx.y * keys + k) * d + c];
    out[blockIdx.y * keys + k] = sum;
}

extern "C" void entry(int *out, const signed char *key, int keys, int d, int heads, cudaStream_t stream)
{
    sums<<<dim3((keys + 127) / 128, heads), 128, 0, stream>>>(out, key, keys, d);
}
