#include <cuda_runtime.h>
// A count-min sketch of traffic: each packet's bytes are added to one counter in each of four rows, told by four hashes
// of its address. A thread a packet, four atomics.
__global__ void note(unsigned *sketch, const unsigned *address, const unsigned short *size, int n, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned hash = address[i];
    for (int row = 0; row < 4; row++) {
        hash ^= hash >> 15;
        hash *= 2246822519u;
        hash ^= hash >> 13;
        hash *= 3266489917u;
        atomicAdd(&sketch[row * width + hash % width], size[i]);
    }
}
extern "C" void count_min(unsigned *sketch, const unsigned *address, const unsigned short *size, int n, int width,
                          cudaStream_t stream)
{
    note<<<(n + 255) / 256, 256, 0, stream>>>(sketch, address, size, n, width);
}
