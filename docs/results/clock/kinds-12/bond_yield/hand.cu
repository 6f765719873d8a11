#include <cuda_runtime.h>
// One reciprocal a step: the worth and its slope are a polynomial of it, by Horner, two fused operations a year. A
// bond is done once a step is so small that the next one is below the last place.
__global__ void __launch_bounds__(64) solve(double *__restrict__ growth, const double *__restrict__ price,
                                            const double *__restrict__ coupon, const int *__restrict__ years, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n)
        return;
    double aim = price[i], pay = coupon[i], g = 1.05;
    int last = years[i];
    for (int step = 0; step < 12; step++) {
        double v = 1.0 / g, worth = pay + 100.0, slope = 0.0;
        for (int year = 1; year < last; year++) {
            slope = fma(slope, v, worth);
            worth = fma(worth, v, pay);
        }
        slope = fma(slope, v, worth);
        worth *= v;
        double move = (worth - aim) / (slope * v * v);
        g += move;
        if (fabs(move) < 1e-10)
            break;
    }
    growth[i] = g;
}
extern "C" void bond_yield(double *growth, const double *price, const double *coupon, const int *years, int n,
                           cudaStream_t stream)
{
    solve<<<(n + 63) / 64, 64, 0, stream>>>(growth, price, coupon, years, n);
}
