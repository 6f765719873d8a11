// A pixel also reaches one of its neighbour's bytes: what it writes of its own is no vector.
// transform: vectorise -1
// leaves
#include <cstdint>

__global__ void work(unsigned char *rgb, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        rgb[3 * i] = rgb[3 * i + 1];
        rgb[3 * i + 2] = rgb[3 * i + 4];
    }
}

extern "C" void entry(unsigned char *rgb, int n, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(rgb, n);
}
