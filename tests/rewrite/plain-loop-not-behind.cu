// Somebody asks for the counter behind the loop; one loop goes on where another ended; and one that stands in a
// loop does not begin anew.
// transform: plain-loop 0
// leaves
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int *last, int d)
{
    int at = threadIdx.x, on = threadIdx.x, again = threadIdx.x;
    while (at < d) {
        out[at] = in[at];
        at += blockDim.x;
    }
    last[threadIdx.x] = at;
    while (on < d / 2) {
        out[on] += 1.0f;
        on += blockDim.x;
    }
    while (on < d) {
        out[on] += 2.0f;
        on += blockDim.x;
    }
    int turn = threadIdx.x;
    for (int row = 0; row < 4; row++)
        while (turn < d) {
            out[row * d + turn] += again;
            turn += blockDim.x;
        }
}

extern "C" void entry(float *out, const float *in, int *last, int d, cudaStream_t stream)
{
    work<<<1, 256, 0, stream>>>(out, in, last, d);
}
