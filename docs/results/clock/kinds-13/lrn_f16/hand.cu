#include <cuda_fp16.h>
#include <cuda_runtime.h>
// A thread goes along 8 channels of two neighbouring pixels with the window of five in registers, so that each number
// is read once (and four more at the ends); the power is two roots.
constexpr int RUN = 8;
__device__ __forceinline__ float shrink(float sum)
{
    float r = rsqrtf(fmaf(2e-5f, sum, 2.0f));
    return r * sqrtf(r);
}
__global__ void __launch_bounds__(64)
    respond(__half2 *__restrict__ out, const __half2 *__restrict__ in, int channels, int pairs)
{
    int at = blockIdx.x * 64 + threadIdx.x;
    if (at >= pairs)
        return;
    int first = blockIdx.y * RUN;
    long long base = (long long)blockIdx.z * channels * pairs + at;
    float2 zero = make_float2(0.0f, 0.0f), x[RUN + 4];
#pragma unroll
    for (int k = 0; k < RUN + 4; k++) {
        int c = first + k - 2;
        x[k] = c >= 0 && c < channels ? __half22float2(in[base + (long long)c * pairs]) : zero;
    }
#pragma unroll
    for (int k = 0; k < RUN; k++) {
        if (first + k >= channels)
            break;
        float2 sum = zero;
#pragma unroll
        for (int j = 0; j < 5; j++) {
            sum.x = fmaf(x[k + j].x, x[k + j].x, sum.x);
            sum.y = fmaf(x[k + j].y, x[k + j].y, sum.y);
        }
        out[base + (long long)(first + k) * pairs] =
            __floats2half2_rn(x[k + 2].x * shrink(sum.x), x[k + 2].y * shrink(sum.y));
    }
}
extern "C" void lrn_f16(__half *out, const __half *in, int images, int channels, int pixels, cudaStream_t stream)
{
    dim3 grid((pixels / 2 + 63) / 64, (channels + RUN - 1) / RUN, images);
    respond<<<grid, 64, 0, stream>>>((__half2 *)out, (const __half2 *)in, channels, pixels / 2);
}
