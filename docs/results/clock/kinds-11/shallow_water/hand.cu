#include <cuda_runtime.h>
// A block goes up a strip of 128 columns. Each cell's fluxes are computed once: columns stay in registers, a row is
// handed to the neighbours in shared memory.
struct Cell {
    float h, hu, hv, f, g, k;
};
__device__ __forceinline__ Cell load(const float *__restrict__ h, const float *__restrict__ hu,
                                     const float *__restrict__ hv, long long at)
{
    Cell c;
    c.h = h[at];
    c.hu = hu[at];
    c.hv = hv[at];
    float r = __frcp_rn(c.h), u = c.hu * r, v = c.hv * r, p = 0.5f * 9.81f * c.h * c.h;
    c.f = c.hu * u + p;
    c.g = c.hu * v;
    c.k = c.hv * v + p;
    return c;
}
__global__ void __launch_bounds__(128)
    advance(float *__restrict__ height, float *__restrict__ east, float *__restrict__ north,
            const float *__restrict__ h, const float *__restrict__ hu, const float *__restrict__ hv, float step, int ny,
            int nx, int rows)
{
    __shared__ float row[2][5][130];
    int t = threadIdx.x, left = blockIdx.x * 128, x = left + t, first = blockIdx.y * rows;
    int last = min(first + rows, ny), some = min(128, nx - left);
    long long wide = nx + 2;
    bool mine = t < some;
    int extra = t == 0 ? 0 : some + 1;
    Cell below = {}, here = {}, above = {};
    if (mine)
        below = load(h, hu, hv, first * wide + x + 1);
    for (int y = first; y <= last; y++) {
        long long at = (y + 1) * wide + left;
        float(*now)[130] = row[y & 1];
        if (mine)
            above = load(h, hu, hv, at + t + 1);
        if (y > first && mine) {
            float(*mid)[130] = row[y + 1 & 1];
            long long to = (long long)(y - 1) * nx + x;
            height[to] = 0.25f * (mid[0][t + 2] + mid[0][t] + above.h + below.h) -
                         step * (mid[1][t + 2] - mid[1][t]) - step * (above.hv - below.hv);
            east[to] = 0.25f * (mid[1][t + 2] + mid[1][t] + above.hu + below.hu) -
                       step * (mid[3][t + 2] - mid[3][t]) - step * (above.g - below.g);
            north[to] = 0.25f * (mid[2][t + 2] + mid[2][t] + above.hv + below.hv) -
                        step * (mid[4][t + 2] - mid[4][t]) - step * (above.k - below.k);
        }
        if (y > first)
            below = here;
        here = above;
        if (y == last)
            break;
        if (mine) {
            now[0][t + 1] = here.h;
            now[1][t + 1] = here.hu;
            now[2][t + 1] = here.hv;
            now[3][t + 1] = here.f;
            now[4][t + 1] = here.g;
        }
        if (t < 2) {
            Cell side = load(h, hu, hv, at + extra);
            now[0][extra] = side.h;
            now[1][extra] = side.hu;
            now[2][extra] = side.hv;
            now[3][extra] = side.f;
            now[4][extra] = side.g;
        }
        __syncthreads();
    }
}
extern "C" void shallow_water(float *height, float *east, float *north, const float *h, const float *hu,
                              const float *hv, float step, int ny, int nx, cudaStream_t stream)
{
    int rows = (long long)ny * nx > 1000000 ? 32 : 8;
    advance<<<dim3((nx + 127) / 128, (ny + rows - 1) / rows), 128, 0, stream>>>(height, east, north, h, hu, hv, step,
                                                                               ny, nx, rows);
}
