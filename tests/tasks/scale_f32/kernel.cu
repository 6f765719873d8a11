// Each element times its column's factor, in double, rounded by an instruction that flushes nothing.
#include <cstdint>

__global__ void scale_kernel(float *out, const float *x, const float *w, int d)
{
    int64_t row = (int64_t)blockIdx.x * d;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        double p = (double)x[row + i] * (double)w[i];
        asm("cvt.rn.f32.f64 %0, %1;" : "=f"(out[row + i]) : "d"(p));
    }
}

extern "C" void scale(float *out, const float *x, const float *w, int rows, int d, cudaStream_t stream)
{
    scale_kernel<<<rows, 128, 0, stream>>>(out, x, w, d);
}
