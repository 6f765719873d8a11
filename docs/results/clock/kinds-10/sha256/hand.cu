#include <cuda_runtime.h>
// Sixteen words of the schedule at a time, all in registers; vectors of 16 bytes in and out.
__constant__ unsigned rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
__device__ __forceinline__ unsigned turned(unsigned x, int by)
{
    return __funnelshift_r(x, x, by);
}
__device__ __forceinline__ unsigned big(unsigned x)
{
    return __byte_perm(x, 0, 0x0123);
}
__global__ void __launch_bounds__(128) digest(uint4 *__restrict__ out, const uint4 *__restrict__ text, int n, int blocks)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n)
        return;
    unsigned h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const uint4 *own = text + 4ll * i * blocks;
    for (int block = 0; block < blocks; block++, own += 4) {
        unsigned w[16], s[8];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            uint4 v = own[k];
            w[4 * k] = big(v.x);
            w[4 * k + 1] = big(v.y);
            w[4 * k + 2] = big(v.z);
            w[4 * k + 3] = big(v.w);
        }
#pragma unroll
        for (int k = 0; k < 8; k++)
            s[k] = h[k];
#pragma unroll 1
        for (int part = 0; part < 64; part += 16) {
#pragma unroll
            for (int t = 0; t < 16; t++) {
                if (part > 0) {
                    unsigned x = w[(t + 1) % 16], y = w[(t + 14) % 16];
                    w[t] += w[(t + 9) % 16] + (turned(x, 7) ^ turned(x, 18) ^ x >> 3) +
                            (turned(y, 17) ^ turned(y, 19) ^ y >> 10);
                }
                unsigned a = s[(64 - t) % 8], b = s[(65 - t) % 8], c = s[(66 - t) % 8], e = s[(68 - t) % 8],
                         f = s[(69 - t) % 8], g = s[(70 - t) % 8];
                unsigned one = s[(71 - t) % 8] + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) +
                               (g ^ (e & (f ^ g))) + rounds[part + t] + w[t];
                s[(67 - t) % 8] += one;
                s[(71 - t) % 8] = one + (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) | (c & (a | b)));
            }
        }
#pragma unroll
        for (int k = 0; k < 8; k++)
            h[k] += s[k];
    }
    out[2ll * i] = make_uint4(big(h[0]), big(h[1]), big(h[2]), big(h[3]));
    out[2ll * i + 1] = make_uint4(big(h[4]), big(h[5]), big(h[6]), big(h[7]));
}
extern "C" void sha256(unsigned char *out, const unsigned char *text, int n, int blocks, cudaStream_t stream)
{
    digest<<<(n + 127) / 128, 128, 0, stream>>>((uint4 *)out, (const uint4 *)text, n, blocks);
}
