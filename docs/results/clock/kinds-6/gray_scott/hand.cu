#include <cuda_runtime.h>
// A column of 16 cells a thread, three rows in registers, the neighbours beside by shared memory.
__global__ void react(float *__restrict__ un, float *__restrict__ vn, const float *__restrict__ u, const float *__restrict__ v, int h, int w)
{
    __shared__ float us[2][130], vs[2][130];
    int t = threadIdx.x, first = blockIdx.x * 128, x = first + t, y0 = blockIdx.y * 16, last = min(first + 127, w - 1);
    bool inside = x < w;
    int at = inside ? x : w - 1, edge = t == 0 ? (first + w - 1) % w : (last + 1) % w;
    long long above = (long long)((y0 + h - 1) % h) * w, here = (long long)y0 * w;
    float ua = u[above + at], va = v[above + at], a = u[here + at], b = v[here + at];
    for (int k = 0; k < 16 && y0 + k < h; k++) {
        int y = y0 + k, s = k % 2;
        long long below = (long long)((y + 1) % h) * w, row = (long long)y * w;
        float ub = u[below + at], vb = v[below + at];
        if (inside) {
            us[s][t + 1] = a;
            vs[s][t + 1] = b;
        }
        if (t < 2) {
            int side = t == 0 ? 0 : last - first + 2;
            us[s][side] = u[row + edge];
            vs[s][side] = v[row + edge];
        }
        __syncthreads();
        if (inside) {
            float abb = a * b * b;
            float da = us[s][t] + us[s][t + 2] + ua + ub - 4.0f * a;
            float db = vs[s][t] + vs[s][t + 2] + va + vb - 4.0f * b;
            un[row + x] = a + 0.16f * da - abb + 0.035f * (1.0f - a);
            vn[row + x] = b + 0.08f * db + abb - 0.1f * b;
        }
        ua = a;
        va = b;
        a = ub;
        b = vb;
    }
}
extern "C" void gray_scott(float *un, float *vn, const float *u, const float *v, int h, int w, cudaStream_t stream)
{
    react<<<dim3((w + 127) / 128, (h + 15) / 16), 128, 0, stream>>>(un, vn, u, v, h, w);
}
