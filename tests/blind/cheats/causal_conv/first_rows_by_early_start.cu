// wrong because: Begins early and clears the head of each row of y (the three elements that a later add completes) before it waits: the kernel ahead may still read y.
#include <cstdint>

__global__ void __launch_bounds__(128) conv_kernel(float *y, const float *x, const float *filter, int time)
{
    int64_t row = (int64_t)blockIdx.y * time;
    int t = (blockIdx.x * 128 + threadIdx.x) * 4;
    bool first = t == 0;
    if (first)
        for (int j = 0; j < 3 && j < time; j++)
            y[row + j] = 0.0f;
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (t >= time)
        return;
    float f[4], v[7];
    for (int k = 0; k < 4; k++)
        f[k] = filter[(int64_t)blockIdx.y * 4 + k];
    for (int j = 0; j < 7; j++)
        v[j] = t - 3 + j >= 0 && t - 3 + j < time ? x[row + t - 3 + j] : 0.0f;
    for (int j = 0; j < 4 && t + j < time; j++) {
        float sum = first && j < 3 ? y[row + j] : 0.0f;
        for (int k = 0; k < 4; k++)
            if (t + j - 3 + k >= 0)
                sum += f[k] * v[j + k];
        y[row + t + j] = sum;
    }
}

extern "C" void causal_conv(float *y, const float *x, const float *filter, int channels, int time, cudaStream_t stream)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((time + 511) / 512, channels);
    config.blockDim = dim3(128);
    config.stream = stream;
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute[0].val.programmaticStreamSerializationAllowed = 1;
    config.attrs = attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, conv_kernel, y, x, filter, time);
}
