#include <cuda_runtime.h>
// A vote of the warp is a word; eight of them a warp.
__global__ void pack(unsigned *__restrict__ out, const float *__restrict__ in, int words)
{
    int first = (blockIdx.x * 8 + threadIdx.x / 32) * 8, lane = threadIdx.x % 32;
    unsigned mine = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float v = first + k < words ? in[(size_t)(first + k) * 32 + lane] : 0.0f;
        unsigned bits = __ballot_sync(~0u, v > 0.0f);
        mine = lane == k ? bits : mine;
    }
    if (lane < 8 && first + lane < words)
        out[first + lane] = mine;
}
extern "C" void signs(unsigned *out, const float *in, int words, cudaStream_t stream)
{
    pack<<<(words + 63) / 64, 256, 0, stream>>>(out, in, words);
}
