// Threads do not wait for each other, but blocks along y read the same places and weights: several channels at once. One of
// two questions is the launcher's then.
// transform: coarsen-blocks 104
// applies: line 11
// has: if (batch >= batches)
// has: out[(batch * channels + channel[k]) * n + i] = weight[i * 2] * in[
// has: blocks.y / 4
// has: blocks.y <= channels
#include <cstdint>

__global__ void between(float *out, const float *in, const int *place, const float *weight, int batches, int channels, int m,
                        int n)
{
    int batch = blockIdx.z, channel = blockIdx.y, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (batch >= batches || channel >= channels)
        return;
    out[(batch * channels + channel) * n + i] = weight[i * 2] * in[(batch * channels + channel) * m + place[i * 2]] +
                                                weight[i * 2 + 1] * in[(batch * channels + channel) * m + place[i * 2 + 1]];
}

extern "C" void entry(float *out, const float *in, const int *place, const float *weight, int batches, int channels, int m, int n,
                      cudaStream_t stream)
{
    dim3 blocks((n + 255) / 256, channels, batches);
    between<<<blocks, 256, 0, stream>>>(out, in, place, weight, batches, channels, m, n);
}
