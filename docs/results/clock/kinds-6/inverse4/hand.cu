#include <cuda_runtime.h>
// Four lanes a matrix, a row each: rows of the pivot come by shuffles, memory is read and written in vectors.
__global__ void invert(float4 *__restrict__ out, const float4 *__restrict__ in, int n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    int r = threadIdx.x % 4;
    bool inside = i < (long long)n * 4;
    float4 v = inside ? in[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float a[4] = {v.x, v.y, v.z, v.w}, b[4];
#pragma unroll
    for (int c = 0; c < 4; c++) {
        a[c] += r == c ? 8.0f : 0.0f;
        b[c] = r == c ? 1.0f : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float by = 1.0f / a[k], f = a[k];
#pragma unroll
        for (int c = 0; c < 4; c++) {
            float pa = __shfl_sync(~0u, a[c] * by, k, 4), pb = __shfl_sync(~0u, b[c] * by, k, 4);
            a[c] = r == k ? pa : a[c] - f * pa;
            b[c] = r == k ? pb : b[c] - f * pb;
        }
    }
    if (inside)
        out[i] = make_float4(b[0], b[1], b[2], b[3]);
}
extern "C" void inverse4(float *out, const float *in, int n, cudaStream_t stream)
{
    invert<<<(unsigned)(((long long)n * 4 + 255) / 256), 256, 0, stream>>>((float4 *)out, (const float4 *)in, n);
}
