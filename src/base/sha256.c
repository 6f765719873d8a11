/* SHA-256 after FIPS 180-4; used for provenance only, so clarity over speed. */
#include "base/base.h"

static uint32_t rotr(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

/* The constants are the first 32 fractional bits of the cube and square roots of the first primes; they are
 * computed once rather than listed. */
static void make_constants(uint32_t k[64], uint32_t h[8])
{
    int n = 0;

    for (uint32_t p = 2; n < 64; p++) {
        bool prime = true;
        for (uint32_t q = 2; q * q <= p; q++)
            prime = prime && p % q;
        if (!prime)
            continue;
        long double c = cbrtl((long double)p), s = sqrtl((long double)p);
        k[n] = (uint32_t)((c - floorl(c)) * 0x1p32L);
        if (n < 8)
            h[n] = (uint32_t)((s - floorl(s)) * 0x1p32L);
        n++;
    }
}

static void compress(uint32_t h[8], const uint32_t k[64], const unsigned char *p)
{
    uint32_t w[64], v[8];

    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 |
               p[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] =
            w[i - 16] + (rotr(a, 7) ^ rotr(a, 18) ^ a >> 3) + w[i - 7] + (rotr(b, 17) ^ rotr(b, 19) ^ b >> 10);
    }
    memcpy(v, h, sizeof(v));
    for (int i = 0; i < 64; i++) {
        uint32_t e = v[4], a = v[0];
        uint32_t t1 =
            v[7] + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & v[5]) ^ (~e & v[6])) + k[i] + w[i];
        uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof(*v));
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        h[i] += v[i];
}

void hash_sha256_hex(const void *data, size_t len, char hex[65])
{
    const unsigned char *p = data;
    unsigned char tail[128] = {0};
    uint32_t k[64], h[8];
    size_t rest = len % 64, tail_len = rest < 56 ? 64 : 128;

    make_constants(k, h);
    for (size_t i = 0; i + 64 <= len; i += 64)
        compress(h, k, p + i);
    if (rest)
        memcpy(tail, p + len - rest, rest);
    tail[rest] = 0x80;
    for (int i = 0; i < 8; i++)
        tail[tail_len - 1 - (size_t)i] = (unsigned char)((uint64_t)len * 8 >> (8 * i));
    for (size_t i = 0; i < tail_len; i += 64)
        compress(h, k, tail + i);
    for (int i = 0; i < 8; i++)
        snprintf(hex + 8 * i, 9, "%08x", h[i]);
}
