// Halves lie a word apart, two rows move at once, and a grid without a question has all its rows.
// transform: stage-loop 16
// applies: line 12
// has: __shared__ __half in_part[64][18];
// has: in_next[turn] = lane % 16 < d ? in[(warp_row + lane / 16 + turn * 2) * d + lane % 16] : __half();
// lacks: inside
#include <cuda_fp16.h>
__global__ void work(float *out, const __half *in, int d)
{
    size_t r = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < d; k++)
        sum = sum * 0.5f + __half2float(in[r * d + k]);
    out[r] = sum;
}

extern "C" void entry(float *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    work<<<rows / 64, 64, 0, stream>>>(out, in, d);
}
