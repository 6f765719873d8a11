#include <cuda_runtime.h>
// American puts in double precision on a binomial tree, from its leaves to its root; `level` is what a spot has become
// after so many moves up less moves down, `up` and `down` are probabilities with a step's discount. A block an option, a
// barrier a step.
__global__ void value(double *price, const double *spot, const double *strike, const double *level, double up,
                      double down, int steps)
{
    __shared__ double held[2][128];
    double s = spot[blockIdx.x], k = strike[blockIdx.x];
    for (int j = threadIdx.x; j <= steps; j += blockDim.x)
        held[steps & 1][j] = fmax(k - s * level[2 * j], 0.0);
    __syncthreads();
    for (int i = steps - 1; i >= 0; i--) {
        double *now = held[i & 1], *later = held[(i & 1) ^ 1];
        for (int j = threadIdx.x; j <= i; j += blockDim.x)
            now[j] = fmax(k - s * level[2 * j - i + steps], up * later[j + 1] + down * later[j]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        price[blockIdx.x] = held[0][0];
}
extern "C" void binomial_put(double *price, const double *spot, const double *strike, const double *level, double up,
                             double down, int n, int steps, cudaStream_t stream)
{
    value<<<n, 128, 0, stream>>>(price, spot, strike, level, up, down, steps);
}
