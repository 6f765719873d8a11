// expect: correct
// Whole vectors, and a loop behind them that no shape of the domain needs: said, and no reason to refuse.
#include <cstdint>

__global__ void scale_kernel(float *out, const float *in, int n)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 4 <= n) {
        float4 v = *reinterpret_cast<const float4 *>(in + i);
        *reinterpret_cast<float4 *>(out + i) = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
    } else {
        for (; i < n; i++)
            out[i] = 2.0f * in[i];
    }
}

extern "C" void scale(float *out, const float *in, int n, cudaStream_t stream)
{
    scale_kernel<<<(n + 1023) / 1024, 256, 0, stream>>>(out, in, n);
}
