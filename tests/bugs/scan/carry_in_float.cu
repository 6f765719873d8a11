// expect: wrong
// row 10: The carry of a row is a float, which has 24 bits.
#include <cstdint>

__device__ uint32_t scan_warp(uint32_t x)
{
    int lane = threadIdx.x % 32;
    for (int step = 1; step < 32; step *= 2) {
        uint32_t left = __shfl_up_sync(0xffffffffu, x, step);
        if (lane >= step)
            x += left;
    }
    return x;
}

__global__ void scan_kernel(uint32_t *out, const uint32_t *in, int d)
{
    __shared__ uint32_t sums[8];
    int64_t row = (int64_t)blockIdx.x * d;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float carry = 0;
    for (int base = 0; base < d; base += 256) {
        int i = base + threadIdx.x;
        uint32_t own = i < d ? in[row + i] : 0, x = scan_warp(own);
        if (lane == 31)
            sums[warp] = x;
        __syncthreads();
        if (warp == 0) {
            uint32_t all = scan_warp(lane < 8 ? sums[lane] : 0);
            if (lane < 8)
                sums[lane] = all;
        }
        __syncthreads();
        uint32_t before = warp > 0 ? sums[warp - 1] : 0;
        if (i < d)
            out[row + i] = (uint32_t)carry + before + x;
        carry += (float)sums[7];
        __syncthreads();
    }
}

extern "C" void scan(uint32_t *out, const uint32_t *in, int rows, int d, cudaStream_t stream)
{
    scan_kernel<<<rows, 256, 0, stream>>>(out, in, d);
}
