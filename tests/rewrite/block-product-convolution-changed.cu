// A place that changes behind the value that was read of it.
// transform: block-product 64064
// applies: line 19
// has: float v = ix >= 0 && ix < w ? in[((b * c + i) * h + iy) * w + ix] : 0.0f;
// has: return static_cast<float>(v);
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, const float *weight, const float *bias, int n, int c, int h, int w, int k,
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
                float v = ix >= 0 && ix < w ? in[((b * c + i) * h + iy) * w + ix] : 0.0f;
                ix = 0;
                sum += v * weight[((f * c + i) * 3 + r) * 3 + s];
            }
        }
    }
    out[idx] = fmaxf(sum, 0.0f);
}

extern "C" void entry(float *out, const float *in, const float *weight, const float *bias, int n, int c, int h, int w, int k,
                      int oh, int ow, int stride, int pad, cudaStream_t stream)
{
    work<<<(n * k * oh * ow + 255) / 256, 256, 0, stream>>>(out, in, weight, bias, n, c, h, w, k, oh, ow, stride, pad);
}
