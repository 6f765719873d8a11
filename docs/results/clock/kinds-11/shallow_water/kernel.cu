#include <cuda_runtime.h>
// One Lax-Friedrichs step of the shallow water equations on a grid with a border of one cell; a thread a cell, which
// computes the fluxes of its four neighbours.
__global__ void advance(float *height, float *east, float *north, const float *h, const float *hu, const float *hv,
                        float step, int ny, int nx)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny)
        return;
    long long wide = nx + 2, at = (y + 1) * wide + x + 1;
    long long e = at + 1, w = at - 1, n = at + wide, s = at - wide;
    float half = 0.5f * 9.81f;
    height[(long long)y * nx + x] =
        0.25f * (h[e] + h[w] + h[n] + h[s]) - step * (hu[e] - hu[w]) - step * (hv[n] - hv[s]);
    east[(long long)y * nx + x] =
        0.25f * (hu[e] + hu[w] + hu[n] + hu[s]) -
        step * ((hu[e] * hu[e] / h[e] + half * h[e] * h[e]) - (hu[w] * hu[w] / h[w] + half * h[w] * h[w])) -
        step * (hu[n] * hv[n] / h[n] - hu[s] * hv[s] / h[s]);
    north[(long long)y * nx + x] =
        0.25f * (hv[e] + hv[w] + hv[n] + hv[s]) - step * (hu[e] * hv[e] / h[e] - hu[w] * hv[w] / h[w]) -
        step * ((hv[n] * hv[n] / h[n] + half * h[n] * h[n]) - (hv[s] * hv[s] / h[s] + half * h[s] * h[s]));
}
extern "C" void shallow_water(float *height, float *east, float *north, const float *h, const float *hu,
                              const float *hv, float step, int ny, int nx, cudaStream_t stream)
{
    advance<<<dim3((nx + 15) / 16, (ny + 15) / 16), dim3(16, 16), 0, stream>>>(height, east, north, h, hu, hv, step, ny,
                                                                              nx);
}
