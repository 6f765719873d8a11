#include <cuda_runtime.h>
// Four bytes in a word, two words a thread, four rows of parity at once: a word is doubled eight times for all rows, and
// masks from shared memory say, a bit of a factor each, which doubling counts.
__global__ void __launch_bounds__(256) encode(uint2 *__restrict__ parity, const uint2 *__restrict__ data,
                                              const unsigned char *__restrict__ factor, int k, int m, int words)
{
    __shared__ uint4 mask[64 * 8];
    int row = blockIdx.y * 4, i = blockIdx.x * 256 + threadIdx.x, rows = min(4, m - row);
    for (int at = threadIdx.x; at < 8 * k; at += 256) {
        unsigned part[4];
#pragma unroll
        for (int r = 0; r < 4; r++)
            part[r] = r < rows ? 0u - (factor[(row + r) * k + at / 8] >> at % 8 & 1u) : 0u;
        mask[at] = make_uint4(part[0], part[1], part[2], part[3]);
    }
    __syncthreads();
    if (i >= words)
        return;
    uint2 a = make_uint2(0, 0), b = a, c = a, d = a;
    uint2 next = data[i];
    for (int block = 0; block < k; block++) {
        uint2 x = next;
        if (block + 1 < k)
            next = data[(long long)(block + 1) * words + i];
#pragma unroll
        for (int bit = 0; bit < 8; bit++) {
            uint4 take = mask[8 * block + bit];
            a.x ^= x.x & take.x;
            a.y ^= x.y & take.x;
            b.x ^= x.x & take.y;
            b.y ^= x.y & take.y;
            c.x ^= x.x & take.z;
            c.y ^= x.y & take.z;
            d.x ^= x.x & take.w;
            d.y ^= x.y & take.w;
            x.x = (x.x & 0x7f7f7f7fu) << 1 ^ (x.x >> 7 & 0x01010101u) * 0x1du;
            x.y = (x.y & 0x7f7f7f7fu) << 1 ^ (x.y >> 7 & 0x01010101u) * 0x1du;
        }
    }
    uint2 *to = parity + (long long)row * words + i;
    to[0] = a;
    if (rows > 1)
        to[words] = b;
    if (rows > 2)
        to[2ll * words] = c;
    if (rows > 3)
        to[3ll * words] = d;
}
extern "C" void rs_encode(unsigned char *parity, const unsigned char *data, const unsigned char *factor, int k, int m,
                          int n, cudaStream_t stream)
{
    encode<<<dim3((n / 8 + 255) / 256, (m + 3) / 4), 256, 0, stream>>>((uint2 *)parity, (const uint2 *)data, factor, k,
                                                                      m, n / 8);
}
