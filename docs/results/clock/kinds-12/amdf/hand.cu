#include <cuda_runtime.h>
// The frame lies in shared memory. A thread has four neighbouring lags and a quarter of the samples: a window of
// eight samples in registers gives sixteen differences for two vectors read.
__global__ void __launch_bounds__(256) differ(float4 *__restrict__ out, const float4 *__restrict__ audio)
{
    __shared__ float4 frame[256];
    __shared__ float4 part[256];
    int t = threadIdx.x, group = t & 63, first = (t >> 6) * 48;
    frame[t] = audio[(long long)blockIdx.x * 256 + t];
    __syncthreads();
    float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
    float4 low = frame[first + group];
#pragma unroll 4
    for (int i = first; i < first + 48; i++) {
        float4 x = frame[i], high = frame[i + group + 1 < 256 ? i + group + 1 : 255];
        s0 += fabsf(x.x - low.x) + fabsf(x.y - low.y) + (fabsf(x.z - low.z) + fabsf(x.w - low.w));
        s1 += fabsf(x.x - low.y) + fabsf(x.y - low.z) + (fabsf(x.z - low.w) + fabsf(x.w - high.x));
        s2 += fabsf(x.x - low.z) + fabsf(x.y - low.w) + (fabsf(x.z - high.x) + fabsf(x.w - high.y));
        s3 += fabsf(x.x - low.w) + fabsf(x.y - high.x) + (fabsf(x.z - high.y) + fabsf(x.w - high.z));
        low = high;
    }
    part[t] = make_float4(s0, s1, s2, s3);
    __syncthreads();
    if (t < 64) {
        float4 a = part[t], b = part[t + 64], c = part[t + 128], d = part[t + 192];
        out[(long long)blockIdx.x * 64 + t] = make_float4(a.x + b.x + (c.x + d.x), a.y + b.y + (c.y + d.y),
                                                          a.z + b.z + (c.z + d.z), a.w + b.w + (c.w + d.w));
    }
}
extern "C" void amdf(float *out, const float *audio, int frames, cudaStream_t stream)
{
    differ<<<frames, 256, 0, stream>>>((float4 *)out, (const float4 *)audio);
}
