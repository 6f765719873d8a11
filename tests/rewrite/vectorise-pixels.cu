// Three bytes a pixel, one behind the other: 16 pixels are three whole vectors, and one of what comes of them.
// transform: vectorise 16
// applies: line 13
// has: const packed<uint8_t, 48> rgb_v = packed_load<48>(&rgb[3 * i]);
// has: rgb_v.at[3 * k + 2]
// has: packed_store(&out[i], out_v);
// has: w % 16 == 0
// has: (uintptr_t)rgb % 16 == 0
#include <cstdint>

__global__ void work(uint8_t *out, const uint8_t *rgb, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int i = y * w + x;
    float r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    out[i] = (uint8_t)(0.299f * r + 0.587f * g + 0.114f * b);
}

extern "C" void entry(uint8_t *out, const uint8_t *rgb, int w, int h, cudaStream_t stream)
{
    dim3 block(16, 16), grid((w + 15) / 16, (h + 15) / 16);
    work<<<grid, block, 0, stream>>>(out, rgb, w, h);
}
