#include <cuda_runtime.h>
// The yield of bonds, as growth a year, at which their coupons and the 100 at the end are worth the price: twelve
// steps of Newton in doubles, a thread a bond, each payment discounted by a division.
__global__ void solve(double *growth, const double *price, const double *coupon, const int *years, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double g = 1.05;
    for (int step = 0; step < 12; step++) {
        double worth = 0.0, slope = 0.0, discount = 1.0;
        for (int year = 1; year <= years[i]; year++) {
            discount /= g;
            double pay = coupon[i] + (year == years[i] ? 100.0 : 0.0);
            worth += pay * discount;
            slope -= year * pay * discount / g;
        }
        g -= (worth - price[i]) / slope;
    }
    growth[i] = g;
}
extern "C" void bond_yield(double *growth, const double *price, const double *coupon, const int *years, int n,
                           cudaStream_t stream)
{
    solve<<<(n + 127) / 128, 128, 0, stream>>>(growth, price, coupon, years, n);
}
