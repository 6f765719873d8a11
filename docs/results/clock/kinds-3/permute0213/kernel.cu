#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cstdint>

__global__ void permute(__half *out, const __half *in, int b, int s, int h, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= b * s * h * d)
        return;
    int dd = i % d;
    int ss = i / d % s;
    int hh = i / d / s % h;
    int bb = i / d / s / h;
    out[i] = in[((bb * s + ss) * h + hh) * d + dd];
}
extern "C" void permute0213(__half *out, const __half *in, int b, int s, int h, int d, cudaStream_t stream)
{
    int n = b * s * h * d;
    permute<<<(n + 255) / 256, 256, 0, stream>>>(out, in, b, s, h, d);
}
