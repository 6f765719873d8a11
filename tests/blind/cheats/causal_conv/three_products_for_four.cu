// expect: wrong
// row 10: Minimal filtering F(2,2), twice: three products where the original has four. y1 = d1 (g0 + g1) - (d1 - d2) g1 loses what d1 g1 cancels: with d1 a few hundred times d2 and g0 small (x = 1000, 1, filter = 1e-3, 1, ...) the answer is off by hundreds of last places of its terms; any shape with time >= 8.
#include <cstdint>

__global__ void causal_conv_kernel(float *y, const float *x, const float *filter, int time)
{
    int64_t c = blockIdx.y;
    int t = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
    if (t >= time)
        return;
    const float *row = x + c * time;
    float4 g = *reinterpret_cast<const float4 *>(filter + c * 4);
    float d[5];
#pragma unroll
    for (int k = 0; k < 5; k++) {
        int at = t - 3 + k;
        d[k] = at >= 0 && at < time ? row[at] : 0.0f;
    }
    // pairs of taps: (g0, g1) on d0..d2, (g2, g3) on d2..d4
    float m2 = d[1] * (g.x + g.y), n2 = d[3] * (g.z + g.w);
    float y0 = m2 + (d[0] - d[1]) * g.x + n2 + (d[2] - d[3]) * g.z;
    float y1 = m2 - (d[1] - d[2]) * g.y + n2 - (d[3] - d[4]) * g.w;
    y[c * time + t] = y0;
    if (t + 1 < time)
        y[c * time + t + 1] = y1;
}

extern "C" void causal_conv(float *y, const float *x, const float *filter, int channels, int time, cudaStream_t stream)
{
    causal_conv_kernel<<<dim3(((time + 1) / 2 + 127) / 128, channels), 128, 0, stream>>>(y, x, filter, time);
}
