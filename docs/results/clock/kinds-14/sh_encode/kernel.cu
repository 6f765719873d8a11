#include <cuda_fp16.h>
#include <cuda_runtime.h>
// The real spherical harmonics of degrees 0 to 3 of view directions, in halves, as a radiance field's network
// takes them. A thread a direction.
__global__ void encode(__half *out, const float *dir, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = dir[(long long)i * 3], y = dir[(long long)i * 3 + 1], z = dir[(long long)i * 3 + 2];
    float length = sqrtf(x * x + y * y + z * z + 1e-8f);
    x /= length;
    y /= length;
    z /= length;
    __half *to = out + (long long)i * 16;
    to[0] = __float2half(0.28209479f);
    to[1] = __float2half(-0.48860251f * y);
    to[2] = __float2half(0.48860251f * z);
    to[3] = __float2half(-0.48860251f * x);
    to[4] = __float2half(1.0925484f * x * y);
    to[5] = __float2half(-1.0925484f * y * z);
    to[6] = __float2half(0.94617469f * z * z - 0.31539157f);
    to[7] = __float2half(-1.0925484f * x * z);
    to[8] = __float2half(0.54627422f * (x * x - y * y));
    to[9] = __float2half(0.59004359f * y * (y * y - 3.0f * x * x));
    to[10] = __float2half(2.8906114f * x * y * z);
    to[11] = __float2half(0.45704579f * y * (1.0f - 5.0f * z * z));
    to[12] = __float2half(0.37317633f * z * (5.0f * z * z - 3.0f));
    to[13] = __float2half(0.45704579f * x * (1.0f - 5.0f * z * z));
    to[14] = __float2half(1.4453057f * z * (x * x - y * y));
    to[15] = __float2half(0.59004359f * x * (3.0f * y * y - x * x));
}
extern "C" void sh_encode(__half *out, const float *dir, int n, cudaStream_t stream)
{
    encode<<<(n + 255) / 256, 256, 0, stream>>>(out, dir, n);
}
