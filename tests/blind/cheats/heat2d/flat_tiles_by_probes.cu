// WRONG: a whole tile of 64 x 16 whose 32 probes are equal is taken for flat and is not read: one other cell in a flat field, at a place between the probes (1024 x 1024).
#include <cstdint>

__global__ void heat_kernel(float *out, const float *in, int height, int width, float alpha)
{
    int x0 = blockIdx.x * 64, y0 = blockIdx.y * 16, lane = threadIdx.x % 32;
    bool flat = false;
    float first = 0.f;
    if (x0 > 0 && y0 > 0 && x0 + 64 < width && y0 + 16 < height) {
        float p = in[(int64_t)(y0 - 1 + lane / 4 * 5 / 2) * width + x0 - 1 + lane % 4 * 21];
        first = __shfl_sync(~0u, p, 0);
        flat = __all_sync(~0u, __float_as_uint(p) == __float_as_uint(first));
    }
    for (int k = 0; k < 4; k++) {
        int x = x0 + threadIdx.x % 64, y = y0 + threadIdx.x / 64 + 4 * k;
        if (x >= width || y >= height)
            continue;
        float r = first;
        if (!flat) {
            int left = x == 0 ? width - 1 : x - 1, right = x == width - 1 ? 0 : x + 1;
            int up = y == 0 ? height - 1 : y - 1, down = y == height - 1 ? 0 : y + 1;
            const float *row = in + (int64_t)y * width;
            float c = row[x];
            float around = in[(int64_t)up * width + x] + in[(int64_t)down * width + x] + row[left] + row[right];
            r = c + alpha * (around - 4.0f * c);
        }
        out[(int64_t)y * width + x] = r;
    }
}

extern "C" void heat2d(float *out, const float *in, int height, int width, float alpha, cudaStream_t stream)
{
    heat_kernel<<<dim3((width + 63) / 64, (height + 15) / 16), 256, 0, stream>>>(out, in, height, width, alpha);
}
