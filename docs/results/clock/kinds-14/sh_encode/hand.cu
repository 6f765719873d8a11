#include <cuda_fp16.h>
#include <cuda_runtime.h>
// One reciprocal root for the three divisions, products that several harmonics share, and the sixteen halves of a
// direction written as two vectors.
__device__ __forceinline__ unsigned pack(float a, float b)
{
    __half2 pair = __floats2half2_rn(a, b);
    return *(unsigned *)&pair;
}
__global__ void __launch_bounds__(128) encode(uint4 *__restrict__ out, const float *__restrict__ dir, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n)
        return;
    const float *from = dir + (long long)i * 3;
    float x = from[0], y = from[1], z = from[2];
    float scale = rsqrtf(x * x + y * y + z * z + 1e-8f);
    x *= scale;
    y *= scale;
    z *= scale;
    float xx = x * x, yy = y * y, zz = z * z, xy = x * y, less = xx - yy, five = 1.0f - 5.0f * zz;
    uint4 low, high;
    low.x = pack(0.28209479f, -0.48860251f * y);
    low.y = pack(0.48860251f * z, -0.48860251f * x);
    low.z = pack(1.0925484f * xy, -1.0925484f * y * z);
    low.w = pack(0.94617469f * zz - 0.31539157f, -1.0925484f * x * z);
    high.x = pack(0.54627422f * less, 0.59004359f * y * (yy - 3.0f * xx));
    high.y = pack(2.8906114f * xy * z, 0.45704579f * y * five);
    high.z = pack(0.37317633f * z * (5.0f * zz - 3.0f), 0.45704579f * x * five);
    high.w = pack(1.4453057f * z * less, 0.59004359f * x * (3.0f * yy - xx));
    out[(long long)i * 2] = low;
    out[(long long)i * 2 + 1] = high;
}
extern "C" void sh_encode(__half *out, const float *dir, int n, cudaStream_t stream)
{
    encode<<<(n + 127) / 128, 128, 0, stream>>>((uint4 *)out, dir, n);
}
