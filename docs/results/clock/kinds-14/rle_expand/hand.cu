#include <cuda_runtime.h>
// A block has 2048 results. A warp finds the run of the first one in steps of 32 probes; runs that begin further
// on leave their number where they begin, and a running maximum tells each place its run. Full vectors are
// written.
__global__ void __launch_bounds__(256)
    expand(int *__restrict__ out, const int *__restrict__ start, const int *__restrict__ value, int runs, int n)
{
    __shared__ __align__(16) int mark[2048];
    __shared__ int top[8], found;
    int t = threadIdx.x, lane = t & 31, begin = blockIdx.x * 2048, end = min(begin + 2048, n);
    int4 *own = (int4 *)mark + t * 2;
    own[0] = own[1] = make_int4(-1, -1, -1, -1);
    if (t < 32) {
        int low = 0, size = runs; // the last of start[low] .. start[low + size - 1] that is not above begin
        while (size > 1) {
            int step = (size + 31) / 32, at = lane * step;
            bool below = at < size && start[low + at] <= begin;
            int hits = __popc(__ballot_sync(~0u, below));
            int skip = (hits - 1) * step;
            low += skip;
            size = min(step, size - skip);
        }
        if (lane == 0)
            found = low;
    }
    __syncthreads();
    for (int r = found + 1 + t; r < runs; r += 256) {
        int at = start[r];
        if (at >= end)
            break;
        atomicMax(&mark[at - begin], r);
    }
    __syncthreads();
    int4 a = own[0], b = own[1];
    if (t == 0)
        a.x = max(a.x, found);
    a.y = max(a.y, a.x);
    a.z = max(a.z, a.y);
    a.w = max(a.w, a.z);
    b.x = max(b.x, a.w);
    b.y = max(b.y, b.x);
    b.z = max(b.z, b.y);
    b.w = max(b.w, b.z);
    int most = b.w;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(~0u, most, d);
        if (lane >= d)
            most = max(most, other);
    }
    if (lane == 31)
        top[t >> 5] = most;
    int before = __shfl_up_sync(~0u, most, 1);
    if (lane == 0)
        before = found;
    __syncthreads();
    for (int k = 0; k < t >> 5; k++)
        before = max(before, top[k]);
    int run[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
#pragma unroll
    for (int k = 0; k < 8; k++)
        run[k] = value[max(run[k], before)];
    int first = begin + t * 8;
    if (first + 8 <= n) {
        ((int4 *)(out + first))[0] = make_int4(run[0], run[1], run[2], run[3]);
        ((int4 *)(out + first))[1] = make_int4(run[4], run[5], run[6], run[7]);
    } else {
#pragma unroll
        for (int k = 0; k < 8; k++)
            if (first + k < n)
                out[first + k] = run[k];
    }
}
extern "C" void rle_expand(int *out, const int *start, const int *value, int runs, int n, cudaStream_t stream)
{
    expand<<<(n + 2047) / 2048, 256, 0, stream>>>(out, start, value, runs, n);
}
