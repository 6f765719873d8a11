// What all elements of a thread add to keeps their order: a loop of each, not one for all.
// transform: vectorise 16
// applies: line 14
// has: for (int r = 0; r < rows; r++)
// lacks: for (int r = 0; r < rows; r++) {
// lacks: last[
#include <cstdint>

__global__ void work(int *out, int *best, const int *in, int rows, int d)
{
    int last = -1;
    __shared__ int found[256];
    found[threadIdx.x] = -1;
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        for (int r = 0; r < rows; r++)
            if (in[r * d + c] > 0)
                last = r * d + c;
        out[c] = in[c];
    }
    found[threadIdx.x] = last;
    best[blockIdx.x * blockDim.x + threadIdx.x] = found[threadIdx.x];
}

extern "C" void entry(int *out, int *best, const int *in, int rows, int d, cudaStream_t stream)
{
    work<<<1, 256, 0, stream>>>(out, best, in, rows, d);
}
