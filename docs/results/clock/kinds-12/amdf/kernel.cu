#include <cuda_runtime.h>
// How far frames of audio are from themselves, moved by 0 to 255 samples (the dip is the pitch): sums of 768 absolute
// differences. A block a frame, a thread a lag.
__global__ void differ(float *out, const float *audio)
{
    const float *frame = audio + (long long)blockIdx.x * 1024;
    int lag = threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < 768; i++)
        sum += fabsf(frame[i] - frame[i + lag]);
    out[(long long)blockIdx.x * 256 + lag] = sum;
}
extern "C" void amdf(float *out, const float *audio, int frames, cudaStream_t stream)
{
    differ<<<frames, 256, 0, stream>>>(out, audio);
}
