#include <cuda_runtime.h>
// Edges are turned upwards and put as a line's numbers into shared memory, 256 at a time; all fits in 32 bits. A
// thread asks them for four points, without a branch.
__global__ void __launch_bounds__(128)
    cross(uchar4 *__restrict__ inside, const int4 *__restrict__ x, const int4 *__restrict__ y,
          const int *__restrict__ px, const int *__restrict__ py, int n, int corners)
{
    __shared__ int4 edge[256];
    int t = threadIdx.x, i = blockIdx.x * 128 + t, at = min(i, n - 1);
    int4 u = x[at], v = y[at];
    int a = 0, b = 0, c = 0, d = 0;
    for (int first = 0; first < corners; first += 256) {
        int some = min(256, corners - first);
        __syncthreads();
        for (int k = t; k < some; k += 128) {
            int from = first + k, to = from + 1 == corners ? 0 : from + 1;
            int x0 = px[from], y0 = py[from], x1 = px[to], y1 = py[to];
            int low = y0 < y1 ? y0 : y1, at_low = y0 < y1 ? x0 : x1;
            int rise = y0 < y1 ? y1 - y0 : y0 - y1, run = y0 < y1 ? x1 - x0 : x0 - x1;
            edge[k] = make_int4(low, rise, run, at_low * rise - low * run);
        }
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < some; k++) {
            int4 e = edge[k];
            a ^= (unsigned)(v.x - e.x) < (unsigned)e.y & u.x * e.y - v.x * e.z < e.w;
            b ^= (unsigned)(v.y - e.x) < (unsigned)e.y & u.y * e.y - v.y * e.z < e.w;
            c ^= (unsigned)(v.z - e.x) < (unsigned)e.y & u.z * e.y - v.z * e.z < e.w;
            d ^= (unsigned)(v.w - e.x) < (unsigned)e.y & u.w * e.y - v.w * e.z < e.w;
        }
    }
    if (i < n)
        inside[i] = make_uchar4(a, b, c, d);
}
extern "C" void in_polygon(unsigned char *inside, const int *x, const int *y, const int *px, const int *py, int n,
                           int corners, cudaStream_t stream)
{
    cross<<<(n / 4 + 127) / 128, 128, 0, stream>>>((uchar4 *)inside, (const int4 *)x, (const int4 *)y, px, py, n / 4,
                                                   corners);
}
