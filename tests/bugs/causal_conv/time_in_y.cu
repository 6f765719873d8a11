// expect: launch-failed
// row 12: The grid has time along y, which ends at 65535 blocks.
#include <cstdint>

__global__ void causal_conv_kernel(float *y, const float *x, const float *filter, int time)
{
    int64_t c = blockIdx.x;
    int t = blockIdx.y * blockDim.x + threadIdx.x;
    if (t >= time)
        return;
    float sum = 0;
    for (int k = 0; k < 4; k++)
        if (t - 3 + k >= 0)
            sum += filter[c * 4 + k] * x[c * time + t - 3 + k];
    y[c * time + t] = sum;
}

extern "C" void causal_conv(float *y, const float *x, const float *filter, int channels, int time, cudaStream_t stream)
{
    causal_conv_kernel<<<dim3(channels, (time + 7) / 8), 8, 0, stream>>>(y, x, filter, time);
}
