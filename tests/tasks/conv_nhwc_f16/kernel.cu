// out = convolution of in with a 3 x 3 window, one element a thread; channels last.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void conv_nhwc_f16_kernel(__half *out, const __half *in, const __half *weight, int n, int h, int w, int c, int k, int dil)
{
    long long idx = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= (long long)n * h * w * k)
        return;
    int f = idx % k;
    int x = (idx / k) % w;
    int y = (idx / (k * w)) % h;
    int b = idx / (k * w * h);
    float sum = 0.0f;
    for (int r = 0; r < 3; r++) {
        for (int s = 0; s < 3; s++) {
            int yy = y + (r - 1) * dil, xx = x + (s - 1) * dil;
            if (yy < 0 || yy >= h || xx < 0 || xx >= w)
                continue;
            for (int ci = 0; ci < c; ci++)
                sum += __half2float(in[((b * h + yy) * w + xx) * c + ci]) * __half2float(weight[((r * 3 + s) * c + ci) * k + f]);
        }
    }
    out[idx] = __float2half(sum);
}

extern "C" void conv_nhwc_f16(__half *out, const __half *in, const __half *weight, int n, int h, int w, int c, int k, int dil, cudaStream_t stream)
{
    long long total = (long long)n * h * w * k;
    conv_nhwc_f16_kernel<<<(unsigned)((total + 255) / 256), 256, 0, stream>>>(out, in, weight, n, h, w, c, k, dil);
}
