#include <cuda_runtime.h>
// Neighbours without a remainder, directions written out, two rows a block.
__global__ void __launch_bounds__(256) flow(float *__restrict__ out, const float *__restrict__ in, int h, int w)
{
    int x = blockIdx.x * 128 + threadIdx.x, y = blockIdx.y * 2 + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int left = x == 0 ? w - 1 : x - 1, right = x == w - 1 ? 0 : x + 1, up = y == 0 ? h - 1 : y - 1, down = y == h - 1 ? 0 : y + 1;
    long long n = (long long)h * w, here = (long long)y * w, above = (long long)up * w, below = (long long)down * w;
    float f0 = in[here + x], f1 = in[n + here + left], f2 = in[2 * n + above + x], f3 = in[3 * n + here + right], f4 = in[4 * n + below + x];
    float f5 = in[5 * n + above + left], f6 = in[6 * n + above + right], f7 = in[7 * n + below + right], f8 = in[8 * n + below + left];
    float rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8, by = 1.0f / rho;
    float ux = (f1 - f3 + f5 - f6 - f7 + f8) * by, uy = (f2 - f4 + f5 + f6 - f7 - f8) * by;
    float still = 1.0f - 1.5f * (ux * ux + uy * uy), a = rho / 9.0f, b = rho / 36.0f, p = ux + uy, q = uy - ux;
    out[here + x] = f0 + 0.8f * (4.0f * a * still - f0);
    out[n + here + x] = f1 + 0.8f * (a * (still + 3.0f * ux + 4.5f * ux * ux) - f1);
    out[2 * n + here + x] = f2 + 0.8f * (a * (still + 3.0f * uy + 4.5f * uy * uy) - f2);
    out[3 * n + here + x] = f3 + 0.8f * (a * (still - 3.0f * ux + 4.5f * ux * ux) - f3);
    out[4 * n + here + x] = f4 + 0.8f * (a * (still - 3.0f * uy + 4.5f * uy * uy) - f4);
    out[5 * n + here + x] = f5 + 0.8f * (b * (still + 3.0f * p + 4.5f * p * p) - f5);
    out[6 * n + here + x] = f6 + 0.8f * (b * (still + 3.0f * q + 4.5f * q * q) - f6);
    out[7 * n + here + x] = f7 + 0.8f * (b * (still - 3.0f * p + 4.5f * p * p) - f7);
    out[8 * n + here + x] = f8 + 0.8f * (b * (still - 3.0f * q + 4.5f * q * q) - f8);
}
extern "C" void lbm_d2q9(float *out, const float *in, int h, int w, cudaStream_t stream)
{
    flow<<<dim3((w + 127) / 128, (h + 1) / 2), dim3(128, 2), 0, stream>>>(out, in, h, w);
}
