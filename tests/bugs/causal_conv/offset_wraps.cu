// expect: wrong
// row 12: The channel's offset in 32 bits: it wraps and stays inside.
#include <cstdint>

__global__ void causal_conv_kernel(float *y, const float *x, const float *filter, int time)
{
    int64_t c = blockIdx.y;
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= time)
        return;
    float sum = 0;
    for (int k = 0; k < 4; k++)
        if (t - 3 + k >= 0)
            sum += filter[c * 4 + k] * x[(unsigned)c * (unsigned)time + t - 3 + k];
    y[c * time + t] = sum;
}

extern "C" void causal_conv(float *y, const float *x, const float *filter, int channels, int time, cudaStream_t stream)
{
    causal_conv_kernel<<<dim3((time + 127) / 128, channels), 128, 0, stream>>>(y, x, filter, time);
}
