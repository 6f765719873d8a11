// Right: labels are numbers of vertices, so 0 is the least there is: a vertex that has it, itself or from a neighbour, reads
// no further edges. A warp per vertex, as many as fit on the device, in a loop.
#include <cstdint>

__global__ void __launch_bounds__(256)
    label_min_kernel(int *__restrict__ out, const int *__restrict__ label, const int *__restrict__ start,
                     const int *__restrict__ neighbour, int vertices)
{
    const int lane = threadIdx.x % 32;
    for (int v = blockIdx.x * 8 + threadIdx.x / 32; v < vertices; v += gridDim.x * 8) {
        int least = label[v];
        if (least != 0) {
            const int end = start[v + 1];
            for (int i = start[v]; i < end; i += 32) { // the same for all lanes
                if (i + lane < end)
                    least = min(least, label[neighbour[i + lane]]);
                if (__any_sync(0xffffffffu, least == 0))
                    break;
            }
        }
        least = __reduce_min_sync(0xffffffffu, least);
        if (lane == 0)
            out[v] = least;
    }
}

extern "C" void label_min(int *out, const int *label, const int *start, const int *neighbour, int vertices,
                          cudaStream_t stream)
{
    const int wanted = (vertices + 7) / 8;
    label_min_kernel<<<wanted < 1056 ? wanted : 1056, 256, 0, stream>>>(out, label, start, neighbour, vertices);
}
