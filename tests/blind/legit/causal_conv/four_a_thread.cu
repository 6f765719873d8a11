// class: round 12 ; right: four outputs a thread, the seven inputs in registers.
#include <cstdint>

__global__ void causal_conv_kernel(float *y, const float *x, const float *filter, int time)
{
    int64_t c = blockIdx.y;
    int t = (blockIdx.x * 128 + threadIdx.x) * 4;
    if (t >= time)
        return;
    const float *p = x + c * time, *f = filter + c * 4;
    float v[7];
#pragma unroll
    for (int k = 0; k < 7; k++)
        v[k] = t - 3 + k >= 0 && t - 3 + k < time ? p[t - 3 + k] : 0.0f;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (t + j - 3 + k >= 0)
                sum += f[k] * v[j + k];
        if (t + j < time)
            y[c * time + t + j] = sum;
    }
}

extern "C" void causal_conv(float *y, const float *x, const float *filter, int channels, int time, cudaStream_t stream)
{
    causal_conv_kernel<<<dim3((time + 511) / 512, channels), 128, 0, stream>>>(y, x, filter, time);
}
