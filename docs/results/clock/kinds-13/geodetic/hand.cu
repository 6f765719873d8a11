#include <cuda_runtime.h>
// The iteration in the tangent t of the latitude, without angles: z + e2 normal sin = p t, and normal sin is
// a t / sqrt(1 + (1 - e2) t^2). Newton doubles the digits: three steps are enough, then one arc tangent.
__global__ void __launch_bounds__(64) locate(double *__restrict__ out, const double *__restrict__ place, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n)
        return;
    const double a = 6378137.0, e2 = 0.00669437999014, f2 = 1.0 - e2;
    double x = place[3 * i], y = place[3 * i + 1], z = place[3 * i + 2];
    double p = sqrt(fma(x, x, y * y)), t = z / (p * f2);
#pragma unroll
    for (int step = 0; step < 3; step++) {
        double r = rsqrt(fma(f2 * t, t, 1.0)), lean = a * e2 * r;
        t -= (fma(p, t, -z) - lean * t) / (p - lean * r * r);
    }
    out[3 * i] = atan(t);
    out[3 * i + 1] = atan2(y, x);
    out[3 * i + 2] = p * sqrt(fma(t, t, 1.0));
}
extern "C" void geodetic(double *out, const double *place, int n, cudaStream_t stream)
{
    locate<<<(n + 63) / 64, 64, 0, stream>>>(out, place, n);
}
