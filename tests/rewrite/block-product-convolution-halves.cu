// Halves, channels last: 16 bytes of the channels move as one, through the tensor cores.
// transform: block-product 128064
// applies: line 19
// has: -> const __half * {
// has: return &in[((b * h + yy) * w + xx) * c + i];
// has: mma_gather(x_own, x_window, x_element, row0, 0, in, c)
// has: mma_strided<__half>{weight + col0 * y_out, y_out, y_deep}
#include <cuda_fp16.h>

__global__ void work(__half *out, const __half *in, const __half *weight, int n, int h, int w, int c, int k, int dilation)
{
    long long idx = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < (long long)n * h * w * k) {
        int f = idx % k;
        int x = (idx / k) % w;
        int y = (idx / (k * w)) % h;
        int b = idx / (k * w * h);
        float sum = 0.0f;
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++) {
                int yy = y + (r - 1) * dilation, xx = x + (s - 1) * dilation;
                if (yy >= 0 && yy < h && xx >= 0 && xx < w)
                    for (int i = 0; i < c; i++)
                        sum = fmaf(__half2float(in[((b * h + yy) * w + xx) * c + i]), __half2float(weight[((r * 3 + s) * c + i) * k + f]), sum);
            }
        out[idx] = __float2half(sum);
    }
}

extern "C" void entry(__half *out, const __half *in, const __half *weight, int n, int h, int w, int c, int k, int dilation,
                      cudaStream_t stream)
{
    long long total = (long long)n * h * w * k;
    work<<<(unsigned)((total + 255) / 256), 256, 0, stream>>>(out, in, weight, n, h, w, c, k, dilation);
}
