// A second turn of the loop begins where the first has moved the pointers to: it must stay at one.
// transform: block-size 128
// leaves
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        out += i;
        in += i;
        out[0] = in[0] * d;
    }
}

static int blocks_for(int n, int threads) { return (n + threads - 1) / threads; }

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<blocks_for(n, 512), 512, 0, stream>>>(out, in, n, d);
}
