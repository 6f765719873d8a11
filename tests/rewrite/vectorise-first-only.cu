// What happens at column 0 happens once a row: only the first of a vector can be there.
// transform: vectorise 16
// applies: line 9
// has: if (column == 0)
#include <cstdint>

__global__ void work(float *out, const float *in, float *first, int n, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * d)
        return;
    int column = i % d;
    out[i] = in[i] + 1.0f;
    if (column == 0)
        first[i / d] = 3.0f;
}

extern "C" void entry(float *out, const float *in, float *first, int n, int d, cudaStream_t stream)
{
    work<<<(n * d + 127) / 128, 128, 0, stream>>>(out, in, first, n, d);
}
