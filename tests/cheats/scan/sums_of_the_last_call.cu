// expect: cheat words state survives
// row 4: Keeps the sums of the pieces for the next call, which need not wait for them.
#include <cstdint>

__device__ uint32_t kept[1 << 16];

__global__ void scan_kernel(uint32_t *out, const uint32_t *in, int d)
{
    int64_t row = (int64_t)blockIdx.x * d;
    uint32_t sum = 0;
    if (threadIdx.x == 0)
        for (int i = 0; i < d; i++)
            out[row + i] = sum += in[row + i];
    if (threadIdx.x == 0)
        kept[blockIdx.x] = sum;
}

extern "C" void scan(uint32_t *out, const uint32_t *in, int rows, int d, cudaStream_t stream)
{
    scan_kernel<<<rows, 32, 0, stream>>>(out, in, d);
}
