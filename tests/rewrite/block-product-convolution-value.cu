// Along one dimension; the value of a place is a variable that a condition sets.
// transform: block-product 2064064
// applies: line 17
// has: const long long rows = (long long)y_threads, cols = (long long)z_threads * t, depth = (long long)c * width;
// has: if (at - width + 1 + s >= 0)
// has: return static_cast<float>(v);
// has: (out, x, weight, t, c, k, width, (k) * (1), (b) * (1));
#include <cuda_runtime.h>

__global__ void work(float *out, const float *x, const float *weight, int t, int c, int k, int width)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    int f = blockIdx.y, sequence = blockIdx.z;
    if (at >= t)
        return;
    float sum = 0.0f;
    for (int i = 0; i < c; i++) {
        for (int s = 0; s < width; s++) {
            float v = 0.0f;
            if (at - width + 1 + s >= 0)
                v = x[(sequence * c + i) * t + at - width + 1 + s];
            sum += v * weight[(f * c + i) * width + s];
        }
    }
    out[(sequence * k + f) * t + at] = sum;
}

extern "C" void entry(float *out, const float *x, const float *weight, int b, int t, int c, int k, int width,
                      cudaStream_t stream)
{
    work<<<dim3((t + 127) / 128, k, b), 128, 0, stream>>>(out, x, weight, t, c, k, width);
}
