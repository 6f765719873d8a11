// RIGHT: even and odd bytes of both lines are added as 16-bit numbers within 32-bit words: a sum of four is at most 1022 with its 2, so nothing is carried over; whole vectors where the width is a multiple of 8, else one pixel at a time.
#include <cstdint>

__device__ unsigned halve(unsigned u, unsigned l)
{
    unsigned s = (u & 0x00ff00ffu) + (u >> 8 & 0x00ff00ffu) + (l & 0x00ff00ffu) + (l >> 8 & 0x00ff00ffu) + 0x00020002u;
    return s >> 2 & 0x00ff00ffu;
}

__global__ void wide(uint2 *out, const uint4 *in, int height, int eights)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= eights || y >= height)
        return;
    const uint4 *from = in + (int64_t)2 * y * eights + x;
    uint4 u = __ldcs(from), l = __ldcs(from + eights);
    uint2 r = {__byte_perm(halve(u.x, l.x), halve(u.y, l.y), 0x6420), __byte_perm(halve(u.z, l.z), halve(u.w, l.w), 0x6420)};
    out[(int64_t)y * eights + x] = r;
}

__global__ void narrow(unsigned char *out, const unsigned char *in, int height, int width)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const unsigned short *pairs = (const unsigned short *)in;
    unsigned u = pairs[(int64_t)2 * y * width + x], l = pairs[((int64_t)2 * y + 1) * width + x];
    out[(int64_t)y * width + x] = (unsigned char)halve(u, l);
}

extern "C" void half_size(unsigned char *out, const unsigned char *in, int height, int width, cudaStream_t stream)
{
    dim3 block(32, 8);
    unsigned down = (height + 7) / 8;
    if (width % 8 == 0)
        wide<<<dim3((width / 8 + 31) / 32, down), block, 0, stream>>>((uint2 *)out, (const uint4 *)in, height, width / 8);
    else
        narrow<<<dim3((width + 31) / 32, down), block, 0, stream>>>(out, in, height, width);
}
