// Neighbouring elements come from places far apart, and nothing else is in order.
// transform: vectorise -1
// leaves
#include <cstdint>

__global__ void gather(float *out, const float *in, const int *id, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float *from = in + id[0] * i;
        float *to = out + 3 * i;
        *to = *from;
    }
}

extern "C" void entry(float *out, const float *in, const int *id, int n, cudaStream_t stream)
{
    gather<<<(n + 255) / 256, 256, 0, stream>>>(out, in, id, n);
}
