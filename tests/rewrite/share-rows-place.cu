// Where the least is, of equal ones the last.
// transform: share-rows 16
// applies: line 16
// has: for (int k = 1 + lane; k < d; k += 16)
// has: const int at_other = __shfl_xor_sync(lanes, at, by, 16);
// has: if (best_other < best || (best_other == best && at_other > at)) {
// lacks: sum
#include <cuda_runtime.h>

__global__ void work(int *out, const float *in, int rows, int d)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float best = in[(size_t)r * d];
        int at = 0;
        for (int k = 1; k < d; k++) {
            float x = in[(size_t)r * d + k];
            if (best >= x) {
                at = k;
                best = x;
            }
        }
        out[r] = at;
    }
}

extern "C" void entry(int *out, const float *in, int rows, int d, cudaStream_t stream)
{
    work<<<(rows + 127) / 128, 128, 0, stream>>>(out, in, rows, d);
}
