#include <cuda_runtime.h>
// Columns of a table packed as differences of 12 bits, signs last; a thread 128 values.
__global__ void unpack(unsigned *out, const unsigned *first, const unsigned *packed, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned *own = packed + 48ll * i;
    unsigned value = first[i];
    for (int k = 0; k < 128; k++) {
        int bit = 12 * k;
        unsigned word = own[bit / 32] >> bit % 32;
        if (bit % 32 > 20)
            word |= own[bit / 32 + 1] << (32 - bit % 32);
        word &= 4095;
        value += word >> 1 ^ -(word & 1);
        out[128ll * i + k] = value;
    }
}
extern "C" void delta_unpack(unsigned *out, const unsigned *first, const unsigned *packed, int n, cudaStream_t stream)
{
    unpack<<<(n + 127) / 128, 128, 0, stream>>>(out, first, packed, n);
}
