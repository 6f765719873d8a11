#include <cuda_runtime.h>
// SHA-256 of messages that are whole blocks of 64 bytes already (padded by who made them); a thread a message.
__constant__ unsigned rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
__device__ unsigned turned(unsigned x, int by)
{
    return x >> by | x << (32 - by);
}
__global__ void digest(unsigned char *out, const unsigned char *text, int n, int blocks)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int block = 0; block < blocks; block++) {
        const unsigned char *own = text + 64 * ((long long)i * blocks + block);
        unsigned w[64];
        for (int t = 0; t < 16; t++)
            w[t] = own[4 * t] << 24 | own[4 * t + 1] << 16 | own[4 * t + 2] << 8 | own[4 * t + 3];
        for (int t = 16; t < 64; t++) {
            unsigned x = w[t - 15], y = w[t - 2];
            w[t] = w[t - 16] + w[t - 7] + (turned(x, 7) ^ turned(x, 18) ^ x >> 3) +
                   (turned(y, 17) ^ turned(y, 19) ^ y >> 10);
        }
        unsigned s[8];
        for (int k = 0; k < 8; k++)
            s[k] = h[k];
        for (int t = 0; t < 64; t++) {
            unsigned a = s[0], e = s[4];
            unsigned one = s[7] + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & s[5]) ^ (~e & s[6])) +
                           rounds[t] + w[t];
            unsigned two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) +
                           ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
            for (int k = 7; k > 0; k--)
                s[k] = s[k - 1];
            s[4] += one;
            s[0] = one + two;
        }
        for (int k = 0; k < 8; k++)
            h[k] += s[k];
    }
    for (int k = 0; k < 32; k++)
        out[32ll * i + k] = (unsigned char)(h[k / 4] >> (24 - k % 4 * 8));
}
extern "C" void sha256(unsigned char *out, const unsigned char *text, int n, int blocks, cudaStream_t stream)
{
    digest<<<(n + 127) / 128, 128, 0, stream>>>(out, text, n, blocks);
}
