#include <cuda_runtime.h>
// Both halves in one launch: a thread a column of 8 nodes in registers, a layer at a time in shared memory; what flows
// along the column is added up in registers.
__global__ void __launch_bounds__(64)
    laplace(double *__restrict__ out, const double *__restrict__ field, const double *__restrict__ metric,
            const double *__restrict__ deriv)
{
    __shared__ double d[8][9], layer[8][9], fr[8][9], fs[8][9];
    int t = threadIdx.x, x = t % 8, y = t / 8;
    const double *g = metric + 3072ll * blockIdx.x + t;
    double u[8], sum[8];
#pragma unroll
    for (int z = 0; z < 8; z++) {
        u[z] = field[512ll * blockIdx.x + 64 * z + t];
        sum[z] = 0.0;
    }
    d[y][x] = deriv[t];
#pragma unroll
    for (int z = 0; z < 8; z++) {
        double g0 = g[64 * z], g1 = g[512 + 64 * z], g2 = g[1024 + 64 * z], g3 = g[1536 + 64 * z],
               g4 = g[2048 + 64 * z], g5 = g[2560 + 64 * z];
        layer[y][x] = u[z];
        __syncthreads();
        double r = 0.0, s = 0.0, q = 0.0;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            r += d[x][k] * layer[y][k];
            s += d[y][k] * layer[k][x];
            q += d[z][k] * u[k];
        }
        fr[y][x] = g0 * r + g1 * s + g2 * q;
        fs[y][x] = g1 * r + g3 * s + g4 * q;
        double f = g2 * r + g4 * s + g5 * q;
        __syncthreads();
        double own = sum[z];
#pragma unroll
        for (int k = 0; k < 8; k++) {
            own += d[k][x] * fr[y][k];
            own += d[k][y] * fs[k][x];
        }
        sum[z] = own;
#pragma unroll
        for (int k = 0; k < 8; k++)
            sum[k] += d[z][k] * f;
    }
#pragma unroll
    for (int z = 0; z < 8; z++)
        out[512ll * blockIdx.x + 64 * z + t] = sum[z];
}
extern "C" void spectral_ax(double *out, const double *field, const double *metric, const double *deriv, double *flux,
                            int n, cudaStream_t stream)
{
    laplace<<<n, 64, 0, stream>>>(out, field, metric, deriv);
}
