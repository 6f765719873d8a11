#include <cuda_runtime.h>
// The table lies in shared memory as bytes, and its mirror image in the other triangle, so that both halves of a split
// are walked along rows. The longer the stretches, the fewer: then more lanes share the splits of one.
constexpr int PITCH = 132;
__global__ void __launch_bounds__(128)
    fold(int *__restrict__ pairs, const unsigned char *__restrict__ base, int len)
{
    __shared__ unsigned char best[128 * PITCH], strand[128];
    int t = threadIdx.x;
    if (t < len) {
        strand[t] = base[(long long)blockIdx.x * len + t];
        best[t * PITCH + t] = 0;
    }
    __syncthreads();
    for (int span = 1; span < len; span++) {
        int cells = len - span, shift = 0;
        while (shift < 5 && cells << (shift + 1) <= 128)
            shift++;
        int i = t >> shift, part = t & ((1 << shift) - 1), j = i + span, most = 0;
        if (j < len) {
            const unsigned char *left = best + i * PITCH + i, *right = best + j * PITCH + i + 1;
#pragma unroll 4
            for (int k = part; k < span; k += 1 << shift)
                most = max(most, left[k] + right[k]);
        }
        for (int step = 1 << shift >> 1; step > 0; step >>= 1)
            most = max(most, __shfl_xor_sync(0xffffffffu, most, step));
        if (j < len && part == 0) {
            if (span > 3 && 0x5a48 >> (strand[i] * 4 + strand[j]) & 1)
                most = max(most, best[(i + 1) * PITCH + j - 1] + 1);
            best[i * PITCH + j] = most;
            best[j * PITCH + i] = most;
        }
        __syncthreads();
    }
    if (t == 0)
        pairs[blockIdx.x] = best[len - 1];
}
extern "C" void nussinov(int *pairs, const unsigned char *base, int *table, int n, int len, cudaStream_t stream)
{
    fold<<<n, 128, 0, stream>>>(pairs, base, len);
}
