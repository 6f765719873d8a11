#include <cuda_runtime.h>
// The positive values of each row to its front, in order, zeros behind; places by a scan in shared memory.
__global__ void compact(int *out, int *count, const int *in)
{
    __shared__ int place[1024];
    long long at = (long long)blockIdx.x * 1024;
    int t = threadIdx.x, v = in[at + t];
    place[t] = v > 0;
    out[at + t] = 0;
    __syncthreads();
    for (int d = 1; d < 1024; d *= 2) {
        int left = t >= d ? place[t - d] : 0;
        __syncthreads();
        place[t] += left;
        __syncthreads();
    }
    if (v > 0)
        out[at + place[t] - 1] = v;
    if (t == 1023)
        count[blockIdx.x] = place[t];
}
extern "C" void row_compact(int *out, int *count, const int *in, int rows, cudaStream_t stream)
{
    compact<<<rows, 1024, 0, stream>>>(out, count, in);
}
