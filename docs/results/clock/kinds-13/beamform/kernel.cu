#include <cuda_runtime.h>
// Delay and sum: each beam of an array of microphones is the sum of their signals, each late by a number of samples
// of its own and weighted. A thread a sample of a beam.
__global__ void steer(float *out, const float *in, const int *delay, const float *gain, int mics, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, beam = blockIdx.y;
    if (t >= n)
        return;
    float sum = 0.0f;
    for (int m = 0; m < mics; m++)
        sum += gain[beam * mics + m] * in[(long long)m * (n + 64) + t + delay[beam * mics + m]];
    out[(long long)beam * n + t] = sum;
}
extern "C" void beamform(float *out, const float *in, const int *delay, const float *gain, int beams, int mics, int n,
                         cudaStream_t stream)
{
    dim3 grid((n + 255) / 256, beams);
    steer<<<grid, 256, 0, stream>>>(out, in, delay, gain, mics, n);
}
