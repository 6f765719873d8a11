// Values that a flag chooses, and a question of which one side is known.
// transform: drop-branches 0
// applies: line 13
// has: const int lanes = LANES;
// has: float *to = (out + 1);
// has: if (i >= n)
// has: float x = in[i] + (0.0f);
// lacks: bias ?
#include <cuda_runtime.h>
template <int LANES, bool SHIFT>
__global__ void work(float *out, const float *in, const float *bias, int n)
{
    const int lanes = LANES == 0 ? blockDim.x : LANES;
    float *to = SHIFT ? out + 1 : out;
    int i = blockIdx.x * lanes + threadIdx.x;
    if (LANES == 256 && i >= n)
        return;
    float x = in[i] + (bias ? bias[i] : 0.0f);
    to[i] = x;
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    work<256, true><<<(n + 255) / 256, 256, 0, stream>>>(out, in, nullptr, n);
}
