#include <cuda_runtime.h>
// A warp an option without barriers: nodes lie in registers, 32 side by side in the lanes, and neighbours are shuffled.
// What exercise is worth hangs on 2 j - i alone and stands in a table, even and odd apart.
template <int PARTS>
__global__ void __launch_bounds__(32) value(double *__restrict__ price, const double *__restrict__ spot,
                                            const double *__restrict__ strike, const double *__restrict__ level,
                                            double up, double down, int steps)
{
    extern __shared__ double table[];
    int lane = threadIdx.x, wide = steps + 32;
    double s = spot[blockIdx.x], k = strike[blockIdx.x], held[PARTS + 1];
    for (int p = lane; p < wide; p += 32) {
        table[p] = p <= steps ? k - s * level[2 * p] : 0.0;
        table[wide + p] = p < steps ? k - s * level[2 * p + 1] : 0.0;
    }
    __syncwarp();
#pragma unroll
    for (int c = 0; c <= PARTS; c++)
        held[c] = c < PARTS && 32 * c <= steps ? fmax(table[32 * c + lane], 0.0) : 0.0;
    for (int i = steps - 1; i >= 0; i--) {
        int gone = steps - i;
        const double *own = table + (gone & 1 ? wide : 0) + gone / 2 + lane;
#pragma unroll
        for (int c = 0; c < PARTS; c++)
            if (32 * c <= i) {
                double from = lane == 0 ? held[c + 1] : held[c];
                double right = __shfl_sync(0xffffffffu, from, lane + 1);
                held[c] = fmax(own[32 * c], up * right + down * held[c]);
            }
    }
    if (lane == 0)
        price[blockIdx.x] = held[0];
}
extern "C" void binomial_put(double *price, const double *spot, const double *strike, const double *level, double up,
                             double down, int n, int steps, cudaStream_t stream)
{
    int bytes = 16 * (steps + 32);
    if (steps < 64)
        value<2><<<n, 32, bytes, stream>>>(price, spot, strike, level, up, down, steps);
    else
        value<4><<<n, 32, bytes, stream>>>(price, spot, strike, level, up, down, steps);
}
