// A template with constants, an index that is divided step by step, a function that reads, and no end but the grid's.
// transform: block-product 64064
// applies: line 27
// has: int y_threads, int z_threads)
// has: const float *image = in + (t * C + c) * h * w;
// has: return static_cast<float>(pixel(image, y * 2 - WINDOW / 2 + r, x * 2 - WINDOW / 2 + s, h, w));
#include <cuda_runtime.h>

__device__ __forceinline__ float pixel(const float *image, int y, int x, int h, int w)
{
    return y < 0 || y >= h || x < 0 || x >= w ? 0.0f : image[y * w + x];
}

template <int C, int WINDOW>
__global__ void work(float *out, const float *in, const float *weight, int h, int w, int filters)
{
    const int ow = (w - 1) / 2 + 1;
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    int t = blockIdx.y;
    const int f = t % filters;
    t /= filters;
    const int y = blockIdx.z;
    if (x >= ow)
        return;
    float sum = 0.f;
#pragma unroll
    for (int c = 0; c < C; c++) {
        const float *image = in + (t * C + c) * h * w;
        for (int r = 0; r < WINDOW; r++)
            for (int s = 0; s < WINDOW; s++) {
                const float v = pixel(image, y * 2 - WINDOW / 2 + r, x * 2 - WINDOW / 2 + s, h, w);
                sum += v * weight[((f * C + c) * WINDOW + r) * WINDOW + s];
            }
    }
    out[((t * filters + f) * ((h - 1) / 2 + 1) + y) * ow + x] = sum;
}

extern "C" void entry(float *out, const float *in, const float *weight, int n, int h, int w, int filters, cudaStream_t stream)
{
    dim3 grid(((w - 1) / 2 + 128) / 128, n * filters, (h - 1) / 2 + 1);
    work<3, 7><<<grid, 128, 0, stream>>>(out, in, weight, h, w, filters);
}
