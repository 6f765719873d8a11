#include <cuda_runtime.h>
// Move to front, the second stage of a block-sorting compressor: each byte becomes its place in a list of all bytes,
// and goes to the list's front. A thread a block of text, with a list of its own.
__global__ void code(unsigned char *out, const unsigned char *in, int blocks, int n)
{
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= blocks)
        return;
    unsigned char list[256];
    for (int k = 0; k < 256; k++)
        list[k] = k;
    for (int i = 0; i < n; i++) {
        unsigned char byte = in[(long long)b * n + i], here = list[0];
        int place = 0;
        while (here != byte) {
            place++;
            unsigned char next = list[place];
            list[place] = here;
            here = next;
        }
        list[0] = byte;
        out[(long long)b * n + i] = place;
    }
}
extern "C" void move_to_front(unsigned char *out, const unsigned char *in, int blocks, int n, cudaStream_t stream)
{
    code<<<(blocks + 63) / 64, 64, 0, stream>>>(out, in, blocks, n);
}
