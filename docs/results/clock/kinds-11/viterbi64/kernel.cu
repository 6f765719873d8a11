#include <cuda_runtime.h>
// The forward pass of a Viterbi decoder for the code of length 7 (171, 133): which of its two predecessors each of 64
// states took, a bit a state, and the last metrics. A block a frame, a thread a state.
__global__ void forward(unsigned *choice, int *metric, const signed char *soft, int steps)
{
    __shared__ int score[2][64];
    int state = threadIdx.x, frame = blockIdx.x;
    score[0][state] = 0;
    __syncthreads();
    for (int step = 0; step < steps; step++) {
        long long at = ((long long)frame * steps + step) * 2;
        int a = soft[at], b = soft[at + 1], best[2];
        for (int k = 0; k < 2; k++) {
            int from = (2 * state + k) & 63, code = (state >> 5) << 6 | from;
            best[k] = score[step & 1][from] + (__popc(code & 0171) & 1 ? -a : a) + (__popc(code & 0133) & 1 ? -b : b);
        }
        bool second = best[1] > best[0];
        score[(step & 1) ^ 1][state] = second ? best[1] : best[0];
        unsigned bits = __ballot_sync(0xffffffffu, second);
        if (state % 32 == 0)
            choice[at + state / 32] = bits;
        __syncthreads();
    }
    metric[frame * 64 + state] = score[steps & 1][state];
}
extern "C" void viterbi64(unsigned *choice, int *metric, const signed char *soft, int frames, int steps,
                          cudaStream_t stream)
{
    forward<<<frames, 64, 0, stream>>>(choice, metric, soft, steps);
}
