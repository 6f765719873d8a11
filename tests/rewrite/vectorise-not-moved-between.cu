// The pointer is followed before it is moved: what stands ahead of the move would see it moved.
// transform: vectorise -1
// leaves
#include <cstdint>

__global__ void twice(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i] + 1.0f;
    x *= in[i];
    in += n;
    out[i] = x * in[i];
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    twice<<<(n + 255) / 256, 256, 0, stream>>>(out, in, n);
}
