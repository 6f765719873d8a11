#include <cuda_runtime.h>
// Systems of 64 unknowns with three diagonals, by elimination down and back; a thread a system.
__global__ void solve(float *x, const float *a, const float *b, const float *c, const float *d, int n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float up[64], v[64];
    up[0] = c[i * 64] / b[i * 64];
    v[0] = d[i * 64] / b[i * 64];
    for (int k = 1; k < 64; k++) {
        float by = b[i * 64 + k] - a[i * 64 + k] * up[k - 1];
        up[k] = c[i * 64 + k] / by;
        v[k] = (d[i * 64 + k] - a[i * 64 + k] * v[k - 1]) / by;
    }
    x[i * 64 + 63] = v[63];
    for (int k = 62; k >= 0; k--) {
        v[k] -= up[k] * v[k + 1];
        x[i * 64 + k] = v[k];
    }
}
extern "C" void tridiag(float *x, const float *a, const float *b, const float *c, const float *d, int n, cudaStream_t stream)
{
    solve<<<(n + 63) / 64, 64, 0, stream>>>(x, a, b, c, d, n);
}
