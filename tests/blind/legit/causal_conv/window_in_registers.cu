// RIGHT: four neighbouring outputs a thread from seven inputs; what lies before the first moment is 0, and a term of 0 for it changes no sum (filters are finite). Vectors where rows are multiples of 4.
#include <cstdint>

__global__ void conv_kernel(float *y, const float *x, const float *filter, int time)
{
    int64_t c = blockIdx.y;
    int t = (blockIdx.x * 128 + threadIdx.x) * 4;
    if (t >= time)
        return;
    const float *row = x + c * time;
    float4 f = *(const float4 *)(filter + c * 4);
    float w[7], r[4];
    if (time % 4 == 0) {
        float4 b = *(const float4 *)(row + t), a = {0.f, 0.f, 0.f, 0.f};
        if (t)
            a = *(const float4 *)(row + t - 4);
        w[0] = a.y, w[1] = a.z, w[2] = a.w, w[3] = b.x, w[4] = b.y, w[5] = b.z, w[6] = b.w;
    } else
#pragma unroll
        for (int k = 0; k < 7; k++)
            w[k] = t + k >= 3 && t + k - 3 < time ? row[t + k - 3] : 0.f;
#pragma unroll
    for (int k = 0; k < 4; k++)
        r[k] = fmaf(f.w, w[k + 3], fmaf(f.z, w[k + 2], fmaf(f.y, w[k + 1], f.x * w[k])));
    float *to = y + c * time + t;
    if (time % 4 == 0)
        *(float4 *)to = make_float4(r[0], r[1], r[2], r[3]);
    else
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (t + k < time)
                to[k] = r[k];
}

extern "C" void causal_conv(float *y, const float *x, const float *filter, int channels, int time, cudaStream_t stream)
{
    conv_kernel<<<dim3((time + 511) / 512, channels), 128, 0, stream>>>(y, x, filter, time);
}
