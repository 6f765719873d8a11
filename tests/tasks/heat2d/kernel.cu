// One step of the heat equation on a torus: out = in + alpha * (four neighbours - 4 in); one thread per cell.
#include <cstdint>

__global__ void heat2d_kernel(float *out, const float *in, int height, int width, float alpha)
{
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 4 + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int left = x == 0 ? width - 1 : x - 1;
    int right = x == width - 1 ? 0 : x + 1;
    int up = y == 0 ? height - 1 : y - 1;
    int down = y == height - 1 ? 0 : y + 1;
    float centre = in[(int64_t)y * width + x];
    float around = in[(int64_t)up * width + x] + in[(int64_t)down * width + x] + in[(int64_t)y * width + left] +
                   in[(int64_t)y * width + right];
    out[(int64_t)y * width + x] = centre + alpha * (around - 4.0f * centre);
}

extern "C" void heat2d(float *out, const float *in, int height, int width, float alpha, cudaStream_t stream)
{
    dim3 grid((width + 31) / 32, (height + 3) / 4);
    heat2d_kernel<<<grid, dim3(32, 4), 0, stream>>>(out, in, height, width, alpha);
}
