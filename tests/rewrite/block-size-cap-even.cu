// The launcher takes at most 1024 threads: fewer make the same number of rounds.
// transform: block-size 11024
// applies: line 21
// has: block = ((d / 4) <= 1024 ? (d / 4) : (((d / 4) + (((d / 4) + 1023) / 1024) - 1) / (((d / 4) + 1023) / 1024) + 31) / 32 * 32);
#include <algorithm>
#include <cuda_runtime.h>

__global__ void work(float *out, const float *in, int d)
{
    const unsigned threads = blockDim.x * blockDim.y, thread = threadIdx.y * 32 + threadIdx.x;
    for (unsigned k = 0; k < (d / 4 + threads - 1) / threads; k++) {
        const unsigned at = (k * threads + thread) * 4;
        if (at < d)
            for (int j = 0; j < 4; j++)
                out[blockIdx.x * d + at + j] = in[blockIdx.x * d + at + j] + 1.0f;
    }
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    const unsigned block = std::min<unsigned>(1024u, d / 4);
    dim3 threads(32, (block + 31) / 32);
    work<<<rows, threads, 0, stream>>>(out, in, d);
}
