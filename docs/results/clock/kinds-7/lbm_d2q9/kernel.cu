#include <cuda_runtime.h>
// A step of a lattice Boltzmann fluid: nine densities come from the neighbours (periodic) and relax; a thread a cell.
__constant__ int ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ float weight[9] = {4 / 9.0f, 1 / 9.0f, 1 / 9.0f, 1 / 9.0f, 1 / 9.0f, 1 / 36.0f, 1 / 36.0f, 1 / 36.0f, 1 / 36.0f};
__global__ void flow(float *out, const float *in, int h, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= w)
        return;
    float f[9], rho = 0.0f, ux = 0.0f, uy = 0.0f;
    for (int k = 0; k < 9; k++) {
        int fx = (x - ex[k] + w) % w, fy = (y - ey[k] + h) % h;
        f[k] = in[((long long)k * h + fy) * w + fx];
        rho += f[k];
        ux += ex[k] * f[k];
        uy += ey[k] * f[k];
    }
    ux /= rho;
    uy /= rho;
    for (int k = 0; k < 9; k++) {
        float eu = ex[k] * ux + ey[k] * uy;
        float rest = weight[k] * rho * (1.0f + 3.0f * eu + 4.5f * eu * eu - 1.5f * (ux * ux + uy * uy));
        out[((long long)k * h + y) * w + x] = f[k] + 0.8f * (rest - f[k]);
    }
}
extern "C" void lbm_d2q9(float *out, const float *in, int h, int w, cudaStream_t stream)
{
    flow<<<dim3((w + 63) / 64, h), 64, 0, stream>>>(out, in, h, w);
}
