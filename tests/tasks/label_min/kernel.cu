// One round of connected components: out[v] = the least of label[v] and the labels of v's neighbours; a warp per
// vertex.
#include <cstdint>

__global__ void label_min_kernel(int *out, const int *label, const int *start, const int *neighbour, int vertices)
{
    int vertex = blockIdx.x * 4 + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (vertex >= vertices)
        return;
    int least = label[vertex];
    int end = start[vertex + 1];
    for (int i = start[vertex] + lane; i < end; i += 32)
        least = min(least, label[neighbour[i]]);
    for (int step = 16; step > 0; step /= 2)
        least = min(least, __shfl_xor_sync(0xffffffffu, least, step));
    if (lane == 0)
        out[vertex] = least;
}

extern "C" void label_min(int *out, const int *label, const int *start, const int *neighbour, int vertices,
                          cudaStream_t stream)
{
    label_min_kernel<<<(vertices + 3) / 4, 128, 0, stream>>>(out, label, start, neighbour, vertices);
}
