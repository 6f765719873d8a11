#include <cuda_runtime.h>
// Parity blocks of a Reed-Solomon code over GF(256), polynomial 0x11d: sums of data blocks times factors. A thread a
// byte of parity.
__device__ unsigned product(unsigned a, unsigned b)
{
    unsigned p = 0;
    for (int bit = 0; bit < 8; bit++) {
        if (b >> bit & 1)
            p ^= a;
        a = a << 1 ^ (a & 128 ? 0x11d : 0);
    }
    return p;
}
__global__ void encode(unsigned char *parity, const unsigned char *data, const unsigned char *factor, int k, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (i >= n)
        return;
    unsigned sum = 0;
    for (int block = 0; block < k; block++)
        sum ^= product(data[(long long)block * n + i], factor[row * k + block]);
    parity[(long long)row * n + i] = sum;
}
extern "C" void rs_encode(unsigned char *parity, const unsigned char *data, const unsigned char *factor, int k, int m,
                          int n, cudaStream_t stream)
{
    encode<<<dim3((n + 255) / 256, m), 256, 0, stream>>>(parity, data, factor, k, n);
}
