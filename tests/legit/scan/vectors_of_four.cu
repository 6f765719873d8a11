// expect: correct
// Four elements a thread where rows are aligned, another kernel where not.
#include <cstdint>

template <int EACH> __global__ void scan_kernel(uint32_t *out, const uint32_t *in, int d)
{
    __shared__ uint32_t sums[8];
    int64_t row = (int64_t)blockIdx.x * d;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    uint32_t carry = 0;
    for (int base = 0; base < d; base += 256 * EACH) {
        int i = base + threadIdx.x * EACH;
        __align__(16) uint32_t x[EACH] = {}, own = 0;
        if (EACH == 4 && i < d)
            *(uint4 *)x = *(const uint4 *)(in + row + i);
        else if (i < d)
            x[0] = in[row + i];
        for (int k = 0; k < EACH; k++)
            x[k] = own += x[k];
        uint32_t all = own;
        for (int step = 1; step < 32; step *= 2) {
            uint32_t left = __shfl_up_sync(0xffffffffu, all, step);
            all += lane >= step ? left : 0;
        }
        if (lane == 31)
            sums[warp] = all;
        __syncthreads();
        uint32_t before = carry + all - own, total = 0;
        for (int w = 0; w < 8; w++) {
            before += w < warp ? sums[w] : 0;
            total += sums[w];
        }
        for (int k = 0; k < EACH; k++)
            x[k] += before;
        if (EACH == 4 && i < d)
            *(uint4 *)(out + row + i) = *(uint4 *)x;
        else if (i < d)
            out[row + i] = x[0];
        carry += total;
        __syncthreads();
    }
}

extern "C" void scan(uint32_t *out, const uint32_t *in, int rows, int d, cudaStream_t stream)
{
    if (d % 4 == 0)
        scan_kernel<4><<<rows, 256, 0, stream>>>(out, in, d);
    else
        scan_kernel<1><<<rows, 256, 0, stream>>>(out, in, d);
}
