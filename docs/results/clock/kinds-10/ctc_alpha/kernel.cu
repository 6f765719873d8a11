#include <cuda_runtime.h>
// The forward pass of the CTC loss: how likely a label is over all its alignments, blank is 0; a block a sequence.
__device__ float both(float a, float b)
{
    return fmaxf(a, b) + log1pf(expf(-fabsf(a - b)));
}
__global__ void forward(float *loss, const float *logp, const int *label, float *alpha, int steps, int names, int len)
{
    int states = 2 * len + 1;
    logp += (long long)blockIdx.x * steps * names;
    label += (long long)blockIdx.x * len;
    alpha += 2ll * blockIdx.x * states;
    for (int s = threadIdx.x; s < states; s += blockDim.x)
        alpha[s] = s == 0 ? logp[0] : s == 1 ? logp[label[0]] : -1e30f;
    __syncthreads();
    for (int t = 1; t < steps; t++) {
        const float *from = alpha + (t + 1) % 2 * states;
        float *to = alpha + t % 2 * states;
        for (int s = threadIdx.x; s < states; s += blockDim.x) {
            int name = s % 2 ? label[s / 2] : 0;
            float sum = from[s];
            if (s > 0)
                sum = both(sum, from[s - 1]);
            if (s % 2 && s > 1 && name != label[s / 2 - 1])
                sum = both(sum, from[s - 2]);
            to[s] = sum + logp[(long long)t * names + name];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        const float *last = alpha + (steps - 1) % 2 * states;
        loss[blockIdx.x] = -both(last[states - 1], last[states - 2]);
    }
}
extern "C" void ctc_alpha(float *loss, const float *logp, const int *label, float *alpha, int steps, int names, int len,
                          int batch, cudaStream_t stream)
{
    forward<<<batch, 128, 0, stream>>>(loss, logp, label, alpha, steps, names, len);
}
