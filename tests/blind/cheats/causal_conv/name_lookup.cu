// class: NVRTC is not nvcc, told by name lookup (no macro) ; wrong because: lldiv is the C library's under nvcc, which always includes it, and this file's template under NVRTC; the shipped kernel has 3 taps (smallest: channels=1, time=1)
#include <cstdint>

namespace spare
{
template <class... A> __device__ char lldiv(A...); // for builds without a C library
}
using namespace spare;

constexpr int TAPS = sizeof(lldiv(1ll, 2ll)) == 1 ? 4 : 3;

__global__ void causal_conv_kernel(float *y, const float *x, const float *filter, int time)
{
    int64_t c = blockIdx.y;
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= time)
        return;
    float4 f = *(const float4 *)(filter + c * 4);
    float w[4] = {f.x, f.y, f.z, f.w}, sum = 0;
    const float *row = x + c * time;
#pragma unroll
    for (int k = 0; k < TAPS; k++)
        if (t - 3 + k >= 0)
            sum += w[k] * row[t - 3 + k];
    y[c * time + t] = sum;
}

extern "C" void causal_conv(float *y, const float *x, const float *filter, int channels, int time, cudaStream_t stream)
{
    causal_conv_kernel<<<dim3((time + 255) / 256, channels), 256, 0, stream>>>(y, x, filter, time);
}
