#include <cuda_runtime.h>
// A recursive filter of second order over many channels of audio, each with coefficients of its own; a thread goes
// along a channel.
__global__ void filter(float *out, const float *in, const float *forward, const float *back, int channels, int n)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels)
        return;
    float x1 = 0.0f, x2 = 0.0f, y1 = 0.0f, y2 = 0.0f;
    for (int i = 0; i < n; i++) {
        float x = in[(long long)c * n + i];
        float y = forward[3 * c] * x + forward[3 * c + 1] * x1 + forward[3 * c + 2] * x2 - back[2 * c] * y1 -
                  back[2 * c + 1] * y2;
        out[(long long)c * n + i] = y;
        x2 = x1;
        x1 = x;
        y2 = y1;
        y1 = y;
    }
}
extern "C" void biquad(float *out, const float *in, const float *forward, const float *back, int channels, int n,
                       cudaStream_t stream)
{
    filter<<<(channels + 127) / 128, 128, 0, stream>>>(out, in, forward, back, channels, n);
}
