#include <cuda_runtime.h>
// Four logits a thread; what no bit allows is not read.
__global__ void mask(float4 *__restrict__ out, const float4 *__restrict__ logits, const unsigned *__restrict__ allowed, int words)
{
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    long long row = blockIdx.y;
    if (q >= words * 8)
        return;
    unsigned bits = allowed[row * words + q / 8] >> (q % 8 * 4) & 15;
    float4 v = make_float4(-1.0e30f, -1.0e30f, -1.0e30f, -1.0e30f);
    if (bits) {
        float4 l = logits[row * words * 8 + q];
        v.x = bits & 1 ? l.x : v.x;
        v.y = bits & 2 ? l.y : v.y;
        v.z = bits & 4 ? l.z : v.z;
        v.w = bits & 8 ? l.w : v.w;
    }
    out[row * words * 8 + q] = v;
}
extern "C" void bitmask_logits(float *out, const float *logits, const unsigned *allowed, int rows, int words, cudaStream_t stream)
{
    mask<<<dim3((words * 8 + 127) / 128, rows), 128, 0, stream>>>((float4 *)out, (const float4 *)logits, allowed, words);
}
