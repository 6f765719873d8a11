// expect: unsafe words race
// row 15: Doubling steps in place: the left neighbour may already have its next sum.
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
            if (threadIdx.x >= step)
                s[threadIdx.x] += s[threadIdx.x - step];
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
