// Bug: out[v] = label[v] and the minima over the edges are done in one launch, with a barrier of the block between them
// only; another block's atomicMin may come before the start value, which then overwrites it.
// Shows with more than one block (vertices above 256), by the order in which blocks run.
#include <cstdint>

__global__ void __launch_bounds__(256)
    label_min_edges(int *out, const int *__restrict__ label, const int *__restrict__ start,
                    const int *__restrict__ neighbour, int vertices)
{
    const int stride = gridDim.x * blockDim.x;
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int v = thread; v < vertices; v += stride)
        out[v] = label[v];
    __syncthreads();
    const int edges = start[vertices];
    for (int i = thread; i < edges; i += stride) {
        int low = 0, high = vertices; // the last vertex whose edges start at or before i
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            if (start[middle] <= i)
                low = middle;
            else
                high = middle;
        }
        const int other = label[neighbour[i]];
        if (other < label[low])
            atomicMin(&out[low], other);
    }
}

extern "C" void label_min(int *out, const int *label, const int *start, const int *neighbour, int vertices,
                          cudaStream_t stream)
{
    int blocks = (vertices + 255) / 256;
    if (blocks > 1056)
        blocks = 1056;
    label_min_edges<<<blocks, 256, 0, stream>>>(out, label, start, neighbour, vertices);
}
