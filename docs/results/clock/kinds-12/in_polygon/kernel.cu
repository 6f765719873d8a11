#include <cuda_runtime.h>
// Which points of a map's raster units lie in a polygon: how often a ray to the right crosses its edges, odd or even.
// A thread a point.
__global__ void cross(unsigned char *inside, const int *x, const int *y, const int *px, const int *py, int n,
                      int corners)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    bool in = false;
    for (int a = 0, b = corners - 1; a < corners; b = a++) {
        if ((py[a] > y[i]) != (py[b] > y[i])) {
            long long rise = py[b] - py[a];
            long long left = (x[i] - px[a]) * rise, right = (long long)(px[b] - px[a]) * (y[i] - py[a]);
            if (rise > 0 ? left < right : left > right)
                in = !in;
        }
    }
    inside[i] = in ? 1 : 0;
}
extern "C" void in_polygon(unsigned char *inside, const int *x, const int *y, const int *px, const int *py, int n,
                           int corners, cudaStream_t stream)
{
    cross<<<(n + 255) / 256, 256, 0, stream>>>(inside, x, y, px, py, n, corners);
}
