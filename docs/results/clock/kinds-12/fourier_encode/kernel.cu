#include <cuda_fp16.h>
#include <cuda_runtime.h>
// Points of space for a radiance field's network: sine and cosine of each coordinate at frequencies that double, in
// halves. A thread a pair.
__global__ void encode(__half *out, const float *x, int pairs, int levels)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs)
        return;
    float turn = x[i / levels] * exp2f((float)(i % levels));
    out[2ll * i] = __float2half(sinpif(turn));
    out[2ll * i + 1] = __float2half(cospif(turn));
}
extern "C" void fourier_encode(__half *out, const float *x, int n, int levels, cudaStream_t stream)
{
    int pairs = 3 * n * levels;
    encode<<<(pairs + 255) / 256, 256, 0, stream>>>(out, x, pairs, levels);
}
