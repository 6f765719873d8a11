// expect: correct
// Gates travel by shuffle from the lane that loaded a pair; votes decide about the tail.
#include <cuda_fp16.h>
#define FULL 0xffffffffu
__global__ void kernel(__half *out, const __half *in, int d)
{
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const __half *x = in + (size_t)blockIdx.x * 2 * d;
    for (int base = warp * 32; base < d; base += blockDim.x) {
        const int i = base + lane;
        const bool inside = i < d;
        const unsigned mask = __ballot_sync(FULL, inside);
        float g = inside ? __half2float(x[d + i]) : 0.0f;
        float v = inside ? __half2float(x[i]) : 0.0f;
        // twice through the butterfly is where it started
        g = __shfl_xor_sync(FULL, __shfl_xor_sync(FULL, g, 1), 1);
        if (__popc(mask) == 32 || (mask >> lane & 1))
            out[(size_t)blockIdx.x * d + i] = __float2half(v / (1.0f + expf(-v)) * g);
        __syncwarp();
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<rows, 256, 0, stream>>>(out, in, d);
}
