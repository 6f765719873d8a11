// expect: unsafe
// row 16: Dynamic shared memory for the tile, without its halo.
#include <cstdint>

__global__ void causal_conv_kernel(float *y, const float *x, const float *filter, int time)
{
    extern __shared__ float tile[];
    int64_t c = blockIdx.y;
    int first = blockIdx.x * 128, i = threadIdx.x, t = first + i;
    if (t < time)
        tile[i + 3] = x[c * time + t];
    if (i < 3)
        tile[i] = first + i >= 3 ? x[c * time + first + i - 3] : 0.0f;
    __syncthreads();
    if (t >= time)
        return;
    float sum = 0;
    for (int k = 0; k < 4; k++)
        sum += filter[c * 4 + k] * tile[i + k];
    y[c * time + t] = sum;
}

extern "C" void causal_conv(float *y, const float *x, const float *filter, int channels, int time, cudaStream_t stream)
{
    causal_conv_kernel<<<dim3((time + 127) / 128, channels), 128, 128 * sizeof(float), stream>>>(y, x, filter, time);
}
