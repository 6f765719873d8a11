// expect: wrong
// row 10: Multiplies with flush to zero.
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
            {
                float p;
                asm("mul.ftz.f32 %0, %1, %2;" : "=f"(p) : "f"(filter[c * 4 + k]), "f"(x[c * time + t - 3 + k]));
                sum += p;
            }
    y[c * time + t] = sum;
}

extern "C" void causal_conv(float *y, const float *x, const float *filter, int channels, int time, cudaStream_t stream)
{
    causal_conv_kernel<<<dim3((time + 127) / 128, channels), 128, 0, stream>>>(y, x, filter, time);
}
