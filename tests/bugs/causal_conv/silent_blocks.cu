// expect: wrong
// row 8: A block whose own inputs are zero writes zeros: the three in front of it are forgotten.
#include <cstdint>

__global__ void causal_conv_kernel(float *y, const float *x, const float *filter, int time)
{
    int64_t c = blockIdx.y;
    int t = blockIdx.x * 128 + threadIdx.x;
    float own = t < time ? x[c * time + t] : 0.0f;
    if (!__syncthreads_or(own != 0.0f)) {
        if (t < time)
            y[c * time + t] = 0.0f;
        return;
    }
    if (t >= time)
        return;
    float sum = 0;
    for (int k = 0; k < 3; k++)
        if (t - 3 + k >= 0)
            sum += filter[c * 4 + k] * x[c * time + t - 3 + k];
    y[c * time + t] = sum + filter[c * 4 + 3] * own;
}

extern "C" void causal_conv(float *y, const float *x, const float *filter, int channels, int time, cudaStream_t stream)
{
    causal_conv_kernel<<<dim3((time + 127) / 128, channels), 128, 0, stream>>>(y, x, filter, time);
}
