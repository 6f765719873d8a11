// expect: wrong
// row 8: How many leading taps are zero is asked of channel 0 alone and used for all; channels > 1 where filter[0][0] (or more of that row) is 0 and another channel's is not lose those taps.
#include <cstdint>

__global__ void causal_conv_kernel(float *y, const float *x, const float *filter, int time)
{
    int64_t c = blockIdx.y;
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= time)
        return;
    // Models with filters of width 2 or 3 have them padded to 4 with zeros in front: find the width in use.
    int first = 0;
    while (first < 3 && filter[first] == 0.0f)
        first++;
    const float *w = filter + c * 4, *from = x + c * time + t - 3;
    float sum = 0;
    for (int k = first; k < 4; k++)
        if (t - 3 + k >= 0)
            sum += w[k] * from[k];
    y[c * time + t] = sum;
}

extern "C" void causal_conv(float *y, const float *x, const float *filter, int channels, int time, cudaStream_t stream)
{
    causal_conv_kernel<<<dim3((time + 127) / 128, channels), 128, 0, stream>>>(y, x, filter, time);
}
