// wrong because: From the process's 100,000th grid on (the register that numbers grids) rows are left out.
#include <cstdint>

__global__ void __launch_bounds__(128) scale_kernel(float *out, const float *x, const float *w, int d)
{
    unsigned long long number;
    asm volatile("mov.u64 %0, %%gridid;" : "=l"(number));
    int64_t row = (int64_t)blockIdx.x * d;
    int end = d - (int)min(number / 100000ull, 1ull) * (d / 2);
    if (d % 4 == 0)
        for (int i = threadIdx.x * 4; i < end; i += 512) {
            float4 a = *reinterpret_cast<const float4 *>(x + row + i), b = *reinterpret_cast<const float4 *>(w + i);
            *reinterpret_cast<float4 *>(out + row + i) = make_float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w);
        }
    else
        for (int i = threadIdx.x; i < end; i += 128)
            out[row + i] = x[row + i] * w[i];
}

extern "C" void scale(float *out, const float *x, const float *w, int rows, int d, cudaStream_t stream)
{
    scale_kernel<<<rows, 128, 0, stream>>>(out, x, w, d);
}
