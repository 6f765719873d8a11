// Channels last: rows are places, columns filters, and the channels lie along the depth.
// transform: block-product 64064
// applies: line 19
// has: const long long rows = (long long)n * h * w, cols = (long long)k, depth = (long long)(3) * (3) * c;
// has: simt_product<ROWS, COLS, DEEP, 256, true, false>(sums, memory, simt_gather(x_own, x_window, x_element, row0, 0),
// has: simt_strided<float>{weight + col0 * y_out, y_out, y_deep}
// has: const long long idx = static_cast<long long>(col_index) + static_cast<long long>(row_index) * k;
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, const float *weight, int n, int h, int w, int c, int k, int dilation)
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
                        sum = fmaf(in[((b * h + yy) * w + xx) * c + i], weight[((r * 3 + s) * c + i) * k + f], sum);
            }
        out[idx] = sum;
    }
}

extern "C" void entry(float *out, const float *in, const float *weight, int n, int h, int w, int c, int k, int dilation,
                      cudaStream_t stream)
{
    long long total = (long long)n * h * w * k;
    work<<<(unsigned)((total + 255) / 256), 256, 0, stream>>>(out, in, weight, n, h, w, c, k, dilation);
}
