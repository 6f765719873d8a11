// A block a row, 256 elements at a time: doubling steps in shared memory, the last sum carried on.
#include <cstdint>

__global__ void scan_kernel(uint32_t *out, const uint32_t *in, int d)
{
    __shared__ uint32_t s[256];
    int64_t row = (int64_t)blockIdx.x * d;
    uint32_t carry = 0;
    for (int base = 0; base < d; base += 256) {
        int i = base + threadIdx.x;
        s[threadIdx.x] = i < d ? in[row + i] : 0;
        __syncthreads();
        for (int step = 1; step < 256; step *= 2) {
            uint32_t left = threadIdx.x >= step ? s[threadIdx.x - step] : 0;
            __syncthreads();
            s[threadIdx.x] += left;
            __syncthreads();
        }
        if (i < d)
            out[row + i] = carry + s[threadIdx.x];
        carry += s[255];
        __syncthreads();
    }
}

extern "C" void scan(uint32_t *out, const uint32_t *in, int rows, int d, cudaStream_t stream)
{
    scan_kernel<<<rows, 256, 0, stream>>>(out, in, d);
}
