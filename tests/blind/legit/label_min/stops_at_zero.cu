// RIGHT: labels are promised to be 0 or more, so a vertex that has found 0 cannot find less and stops; a quarter of a warp per vertex, whose lanes agree by a vote.
#include <cstdint>

__global__ void label_kernel(int *out, const int *__restrict__ label, const int *__restrict__ start,
                             const int *__restrict__ neighbour, int vertices)
{
    int64_t vertex = ((int64_t)blockIdx.x * 256 + threadIdx.x) / 8;
    int lane = threadIdx.x % 8, shift = threadIdx.x % 32 / 8 * 8;
    unsigned group = 0xffu << shift;
    if (vertex >= vertices)
        return;
    int least = label[vertex], end = start[vertex + 1];
    for (int first = start[vertex]; first < end; first = end - first > 8 ? first + 8 : end) {
        if (__any_sync(group, least == 0))
            break;
        if (lane < end - first)
            least = min(least, label[neighbour[first + lane]]);
    }
    least = __reduce_min_sync(group, least);
    if (lane == 0)
        out[vertex] = least;
}

extern "C" void label_min(int *out, const int *label, const int *start, const int *neighbour, int vertices,
                          cudaStream_t stream)
{
    label_kernel<<<(vertices + 31) / 32, 256, 0, stream>>>(out, label, start, neighbour, vertices);
}
