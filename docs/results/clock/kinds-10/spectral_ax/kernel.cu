#include <cuda_runtime.h>
// The Laplacian on spectral elements of 8 by 8 by 8 nodes: a gradient, the metric of the element, a divergence;
// a block an element, a thread a node.
__global__ void gradient(double *flux, const double *field, const double *metric, const double *deriv)
{
    int t = threadIdx.x, x = t % 8, y = t / 8 % 8, z = t / 64;
    const double *u = field + 512ll * blockIdx.x, *g = metric + 3072ll * blockIdx.x;
    double *f = flux + 1536ll * blockIdx.x;
    double r = 0.0, s = 0.0, q = 0.0;
    for (int k = 0; k < 8; k++) {
        r += deriv[8 * x + k] * u[64 * z + 8 * y + k];
        s += deriv[8 * y + k] * u[64 * z + 8 * k + x];
        q += deriv[8 * z + k] * u[64 * k + 8 * y + x];
    }
    f[t] = g[t] * r + g[512 + t] * s + g[1024 + t] * q;
    f[512 + t] = g[512 + t] * r + g[1536 + t] * s + g[2048 + t] * q;
    f[1024 + t] = g[1024 + t] * r + g[2048 + t] * s + g[2560 + t] * q;
}
__global__ void divergence(double *out, const double *flux, const double *deriv)
{
    int t = threadIdx.x, x = t % 8, y = t / 8 % 8, z = t / 64;
    const double *f = flux + 1536ll * blockIdx.x;
    double sum = 0.0;
    for (int k = 0; k < 8; k++) {
        sum += deriv[8 * k + x] * f[64 * z + 8 * y + k];
        sum += deriv[8 * k + y] * f[512 + 64 * z + 8 * k + x];
        sum += deriv[8 * k + z] * f[1024 + 64 * k + 8 * y + x];
    }
    out[512ll * blockIdx.x + t] = sum;
}
extern "C" void spectral_ax(double *out, const double *field, const double *metric, const double *deriv, double *flux,
                            int n, cudaStream_t stream)
{
    gradient<<<n, 512, 0, stream>>>(flux, field, metric, deriv);
    divergence<<<n, 512, 0, stream>>>(out, flux, deriv);
}
