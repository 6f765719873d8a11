// Four outputs a thread; the three inputs in front come from the lane to the left by shuffle, the first lane of a warp loads them itself. All lanes take part in the shuffle, the guard comes after.
#include <cstdint>

template <bool VECTOR> __global__ void __launch_bounds__(128) conv_kernel(float *__restrict__ y, const float *__restrict__ x, const float *__restrict__ filter, int time)
{
    const int64_t row = (int64_t)blockIdx.y * time;
    const int t = (blockIdx.x * 128 + threadIdx.x) * 4;
    const float4 f = __ldg(reinterpret_cast<const float4 *>(filter) + blockIdx.y);
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if constexpr (VECTOR) {
        if (t < time)
            v = __ldcs(reinterpret_cast<const float4 *>(x + row + t));
    } else {
        v.x = t < time ? x[row + t] : 0.0f;
        v.y = t + 1 < time ? x[row + t + 1] : 0.0f;
        v.z = t + 2 < time ? x[row + t + 2] : 0.0f;
        v.w = t + 3 < time ? x[row + t + 3] : 0.0f;
    }
    float a = __shfl_up_sync(0xffffffffu, v.y, 1), b = __shfl_up_sync(0xffffffffu, v.z, 1), c = __shfl_up_sync(0xffffffffu, v.w, 1);
    if (t >= time)
        return;
    if (threadIdx.x % 32 == 0) {
        a = t ? x[row + t - 3] : 0.0f;
        b = t ? x[row + t - 2] : 0.0f;
        c = t ? x[row + t - 1] : 0.0f;
    }
    float4 r;
    r.x = fmaf(f.w, v.x, fmaf(f.z, c, fmaf(f.y, b, f.x * a)));
    r.y = fmaf(f.w, v.y, fmaf(f.z, v.x, fmaf(f.y, c, f.x * b)));
    r.z = fmaf(f.w, v.z, fmaf(f.z, v.y, fmaf(f.y, v.x, f.x * c)));
    r.w = fmaf(f.w, v.w, fmaf(f.z, v.z, fmaf(f.y, v.y, f.x * v.x)));
    if constexpr (VECTOR) {
        *reinterpret_cast<float4 *>(y + row + t) = r;
    } else {
        y[row + t] = r.x;
        if (t + 1 < time)
            y[row + t + 1] = r.y;
        if (t + 2 < time)
            y[row + t + 2] = r.z;
        if (t + 3 < time)
            y[row + t + 3] = r.w;
    }
}

extern "C" void causal_conv(float *y, const float *x, const float *filter, int channels, int time, cudaStream_t stream)
{
    const dim3 grid((time + 511) / 512, channels);
    if (time % 4 == 0)
        conv_kernel<true><<<grid, 128, 0, stream>>>(y, x, filter, time);
    else
        conv_kernel<false><<<grid, 128, 0, stream>>>(y, x, filter, time);
}
