#include <cuda_runtime.h>
// A warp a frame without barriers: a lane has states t and t + 32, which share their predecessors and one number of the
// step. Symbols of 32 steps are read at once, and so are the choices written.
__global__ void __launch_bounds__(64)
    forward(uint2 *__restrict__ choice, int *__restrict__ metric, const short *__restrict__ soft, int frames, int steps)
{
    int lane = threadIdx.x & 31, frame = blockIdx.x * 2 + threadIdx.x / 32;
    if (frame >= frames)
        return;
    const short *from = soft + (long long)frame * steps;
    uint2 *to = choice + (long long)frame * steps;
    bool first = __popc(2 * lane & 0171) & 1, other = __popc(2 * lane & 0133) & 1, upper = lane >= 16;
    int low = 0, high = 0, source = 2 * lane & 31;
    for (int base = 0; base < steps; base += 32) {
        int some = min(32, steps - base), pair = lane < some ? from[base + lane] : 0;
        uint2 mine = make_uint2(0u, 0u);
#pragma unroll 4
        for (int k = 0; k < some; k++) {
            int both = __shfl_sync(0xffffffffu, pair, k), a = (signed char)both, b = (signed char)(both >> 8);
            int x = (first ? -a : a) + (other ? -b : b);
            int ll = __shfl_sync(0xffffffffu, low, source), lh = __shfl_sync(0xffffffffu, high, source);
            int hl = __shfl_sync(0xffffffffu, low, source + 1), hh = __shfl_sync(0xffffffffu, high, source + 1);
            int even = upper ? lh : ll, odd = upper ? hh : hl;
            int p = even + x, q = odd - x, r = even - x, s = odd + x;
            unsigned one = __ballot_sync(0xffffffffu, q > p), two = __ballot_sync(0xffffffffu, s > r);
            low = max(p, q);
            high = max(r, s);
            if (lane == k)
                mine = make_uint2(one, two);
        }
        if (lane < some)
            to[base + lane] = mine;
    }
    metric[frame * 64 + lane] = low;
    metric[frame * 64 + lane + 32] = high;
}
extern "C" void viterbi64(unsigned *choice, int *metric, const signed char *soft, int frames, int steps,
                          cudaStream_t stream)
{
    forward<<<(frames + 1) / 2, 64, 0, stream>>>((uint2 *)choice, metric, (const short *)soft, frames, steps);
}
