// out = max(convolution of in with weight + bias, 0), one element a thread; planes of channels.
#include <cuda_runtime.h>

__global__ void conv2d_kernel(float *out, const float *in, const float *weight, const float *bias, int n, int c, int h, int w,
                            int k, int r, int s, int stride, int pad, int oh, int ow)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int total = n * k * oh * ow;
    if (idx >= total)
        return;
    int x = idx % ow;
    int y = (idx / ow) % oh;
    int f = (idx / (ow * oh)) % k;
    int b = idx / (ow * oh * k);
    float sum = bias[f];
    for (int ci = 0; ci < c; ci++) {
        for (int ky = 0; ky < r; ky++) {
            int iy = y * stride - pad + ky;
            if (iy < 0 || iy >= h)
                continue;
            for (int kx = 0; kx < s; kx++) {
                int ix = x * stride - pad + kx;
                if (ix >= 0 && ix < w)
                    sum += in[((b * c + ci) * h + iy) * w + ix] * weight[((f * c + ci) * r + ky) * s + kx];
            }
        }
    }
    out[idx] = fmaxf(sum, 0.0f);
}

extern "C" void conv2d(float *out, const float *in, const float *weight, const float *bias, int n, int c, int h, int w, int k,
                     int r, int s, int stride, int pad, int oh, int ow, cudaStream_t stream)
{
    int total = n * k * oh * ow;
    conv2d_kernel<<<(total + 255) / 256, 256, 0, stream>>>(out, in, weight, bias, n, c, h, w, k, r, s, stride, pad, oh, ow);
}
