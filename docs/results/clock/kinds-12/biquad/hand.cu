#include <cuda_runtime.h>
// A warp has 32 channels and goes along them in squares of 32 samples that it turns in shared memory, so that both
// sides are read and written along rows; the next square is on its way in registers meanwhile.
__global__ void __launch_bounds__(32)
    filter(float *__restrict__ out, const float *__restrict__ in, const float *__restrict__ forward,
           const float *__restrict__ back, int channels, int n)
{
    __shared__ float tile[32][33];
    int t = threadIdx.x, top = blockIdx.x * 32, rows = min(32, channels - top), c = min(top + t, channels - 1);
    float b0 = forward[3 * c], b1 = forward[3 * c + 1], b2 = forward[3 * c + 2], a1 = back[2 * c],
          a2 = back[2 * c + 1];
    float x1 = 0.0f, x2 = 0.0f, y1 = 0.0f, y2 = 0.0f, next[32];
    const float *from = in + (long long)top * n;
    float *to = out + (long long)top * n;
#pragma unroll
    for (int r = 0; r < 32; r++)
        next[r] = r < rows && t < n ? from[(long long)r * n + t] : 0.0f;
    for (int first = 0; first < n; first += 32) {
#pragma unroll
        for (int r = 0; r < 32; r++)
            tile[r][t] = next[r];
        __syncwarp();
        int ahead = first + 32 + t;
#pragma unroll
        for (int r = 0; r < 32; r++)
            next[r] = r < rows && ahead < n ? from[(long long)r * n + ahead] : 0.0f;
#pragma unroll 8
        for (int i = 0; i < 32; i++) {
            float x = tile[t][i];
            float y = b0 * x + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2;
            tile[t][i] = y;
            x2 = x1;
            x1 = x;
            y2 = y1;
            y1 = y;
        }
        __syncwarp();
        if (first + t < n)
            for (int r = 0; r < rows; r++)
                to[(long long)r * n + first + t] = tile[r][t];
        __syncwarp();
    }
}
extern "C" void biquad(float *out, const float *in, const float *forward, const float *back, int channels, int n,
                       cudaStream_t stream)
{
    filter<<<(channels + 31) / 32, 32, 0, stream>>>(out, in, forward, back, channels, n);
}
