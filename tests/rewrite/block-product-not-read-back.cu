// The kernel writes what it multiplies.
// transform: block-product -1
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, float *in, const float *weight, const float *bias, int n, int c, int h, int w, int k,
                     int oh, int ow, int stride, int pad)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= n * k * oh * ow)
        return;
    int x = idx % ow;
    int y = (idx / ow) % oh;
    int f = (idx / (ow * oh)) % k;
    int b = idx / (ow * oh * k);
    float sum = bias[f];
    for (int i = 0; i < c; i++) {
        for (int r = 0; r < 3; r++) {
            int iy = y * stride - pad + r;
            if (iy < 0 || iy >= h)
                continue;
            for (int s = 0; s < 3; s++) {
                int ix = x * stride - pad + s;
                if (ix >= 0 && ix < w)
                    sum += in[((b * c + i) * h + iy) * w + ix] * weight[((f * c + i) * 3 + r) * 3 + s];
            }
        }
    }
    in[idx] = out[idx] = fmaxf(sum, 0.0f);
}

extern "C" void entry(float *out, float *in, const float *weight, const float *bias, int n, int c, int h, int w, int k,
                      int oh, int ow, int stride, int pad, cudaStream_t stream)
{
    work<<<(n * k * oh * ow + 255) / 256, 256, 0, stream>>>(out, in, weight, bias, n, c, h, w, k, oh, ow, stride, pad);
}
