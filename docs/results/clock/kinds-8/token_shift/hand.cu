#include <cuda_runtime.h>
// Four channels a thread over sixteen tokens: each is read once.
__global__ void shift(float4 *__restrict__ out, const float4 *__restrict__ x, const float4 *__restrict__ mix, int steps, int n)
{
    int c = blockIdx.x * 128 + threadIdx.x, first = blockIdx.y * 16;
    if (c >= n)
        return;
    long long at = ((long long)blockIdx.z * steps + first) * n + c;
    float4 m = mix[c], before = first > 0 ? x[at - n] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float4 r = make_float4(1.0f - m.x, 1.0f - m.y, 1.0f - m.z, 1.0f - m.w);
    int last = min(first + 16, steps);
#pragma unroll 4
    for (int t = first; t < last; t++, at += n) {
        float4 v = x[at];
        out[at] = make_float4(v.x * m.x + before.x * r.x, v.y * m.y + before.y * r.y, v.z * m.z + before.z * r.z, v.w * m.w + before.w * r.w);
        before = v;
    }
}
extern "C" void token_shift(float *out, const float *x, const float *mix, int batch, int steps, int d, cudaStream_t stream)
{
    shift<<<dim3((d / 4 + 127) / 128, (steps + 15) / 16, batch), 128, 0, stream>>>((float4 *)out, (const float4 *)x, (const float4 *)mix, steps, d / 4);
}
