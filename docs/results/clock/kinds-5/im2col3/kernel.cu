#include <cuda_runtime.h>
// The nine neighbours of each value, zeros outside; a thread an output.
__global__ void spread(float *out, const float *in, int c, int h, int w)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)c * 9 * h * w)
        return;
    int x = i % w, y = i / w % h, tap = i / ((long long)w * h) % 9, plane = i / ((long long)w * h * 9);
    int sx = x + tap % 3 - 1, sy = y + tap / 3 - 1;
    out[i] = sx >= 0 && sx < w && sy >= 0 && sy < h ? in[((long long)plane * h + sy) * w + sx] : 0.0f;
}
extern "C" void im2col3(float *out, const float *in, int c, int h, int w, cudaStream_t stream)
{
    long long n = (long long)c * 9 * h * w;
    spread<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(out, in, c, h, w);
}
