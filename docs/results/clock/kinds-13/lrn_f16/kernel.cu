#include <cuda_fp16.h>
#include <cuda_runtime.h>
// Local response normalisation: a number is divided by a power of the squares of its own and the two channels on each
// side (k = 2, alpha = 1e-4, beta = 0.75). Halves, a thread a number.
__global__ void respond(__half *out, const __half *in, int channels, int pixels, long long all)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= all)
        return;
    int channel = i / pixels % channels;
    float sum = 0.0f;
    for (int c = max(channel - 2, 0); c <= min(channel + 2, channels - 1); c++) {
        float x = __half2float(in[i + (long long)(c - channel) * pixels]);
        sum += x * x;
    }
    out[i] = __float2half(__half2float(in[i]) / powf(2.0f + 1e-4f / 5.0f * sum, 0.75f));
}
extern "C" void lrn_f16(__half *out, const __half *in, int images, int channels, int pixels, cudaStream_t stream)
{
    long long all = (long long)images * channels * pixels;
    respond<<<(unsigned)((all + 255) / 256), 256, 0, stream>>>(out, in, channels, pixels, all);
}
