#include <cuda_runtime.h>
// Twelve bytes a thread in three words, sixteen letters in one vector; letters are computed, four in a word, from
// where the ranges of the alphabet begin.
__device__ __forceinline__ unsigned above(unsigned v, unsigned add)
{
    return (v + add) >> 7 & 0x01010101u;
}
__device__ __forceinline__ unsigned four(unsigned t)
{
    unsigned v = (t >> 18 & 0x3fu) | (t >> 4 & 0x3f00u) | (t << 10 & 0x3f0000u) | (t << 24 & 0x3f000000u);
    return v + 0x41414141u + 6u * above(v, 0x66666666u) - 75u * above(v, 0x4c4c4c4cu) - 15u * above(v, 0x42424242u) +
           3u * above(v, 0x41414141u);
}
__global__ void __launch_bounds__(256) encode(uint4 *__restrict__ text, const unsigned char *__restrict__ bytes, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x, whole = n / 12;
    if (i < whole) {
        const unsigned *from = (const unsigned *)bytes + 3ll * i;
        unsigned a = from[0], b = from[1], c = from[2];
        text[i] = make_uint4(four(__byte_perm(a, 0, 0x4012)), four(__byte_perm(a, b, 0x0345)),
                             four(__byte_perm(b, c, 0x0234)), four(__byte_perm(c, 0, 0x4123)));
    } else if (i == whole) {
        unsigned *to = (unsigned *)(text + i);
        for (int at = 12 * whole; at < n; at += 3) {
            unsigned t = bytes[at] << 16;
            if (at + 1 < n)
                t |= bytes[at + 1] << 8;
            if (at + 2 < n)
                t |= bytes[at + 2];
            unsigned word = four(t);
            if (at + 1 >= n)
                word = (word & 0xff00ffffu) | 0x3d0000u;
            if (at + 2 >= n)
                word = (word & 0x00ffffffu) | 0x3d000000u;
            *to++ = word;
        }
    }
}
extern "C" void base64(unsigned char *text, const unsigned char *bytes, int n, cudaStream_t stream)
{
    encode<<<n / 12 / 256 + 1, 256, 0, stream>>>((uint4 *)text, bytes, n);
}
