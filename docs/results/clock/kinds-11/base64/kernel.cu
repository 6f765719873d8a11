#include <cuda_runtime.h>
// Bytes written as base64 with its padding; a thread takes three bytes and looks four letters up.
__constant__ unsigned char letters[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
__global__ void encode(unsigned char *text, const unsigned char *bytes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int at = 3 * i;
    if (i >= (n + 2) / 3)
        return;
    unsigned three = bytes[at] << 16;
    if (at + 1 < n)
        three |= bytes[at + 1] << 8;
    if (at + 2 < n)
        three |= bytes[at + 2];
    unsigned char *to = text + 4ll * i;
    to[0] = letters[three >> 18];
    to[1] = letters[three >> 12 & 63];
    to[2] = at + 1 < n ? letters[three >> 6 & 63] : '=';
    to[3] = at + 2 < n ? letters[three & 63] : '=';
}
extern "C" void base64(unsigned char *text, const unsigned char *bytes, int n, cudaStream_t stream)
{
    encode<<<((n + 2) / 3 + 255) / 256, 256, 0, stream>>>(text, bytes, n);
}
