#include <cuda_runtime.h>
// Eight lanes a question, a vector each: 32 tokens at once.
__global__ void prefix(int *__restrict__ out, const int4 *__restrict__ tokens, const int4 *__restrict__ cached, int rows, int n)
{
    int t = blockIdx.x * 128 + threadIdx.x, i = t / 8, lane = t % 8;
    bool open = i < rows;
    int found = 4 * n;
    for (int k = 0; k < n && __any_sync(~0u, open); k += 8) {
        int own = 4;
        if (open) {
            int4 a = tokens[(long long)i * n + k + lane], b = cached[(long long)i * n + k + lane];
            own = a.x != b.x ? 0 : a.y != b.y ? 1 : a.z != b.z ? 2 : a.w != b.w ? 3 : 4;
        }
        int at = own < 4 ? 4 * lane + own : 32;
#pragma unroll
        for (int o = 4; o > 0; o /= 2)
            at = min(at, __shfl_xor_sync(~0u, at, o));
        if (open && at < 32) {
            found = 4 * k + at;
            open = false;
        }
    }
    if (i < rows && lane == 0)
        out[i] = found;
}
extern "C" void prefix_len(int *out, const int *tokens, const int *cached, int rows, int n, cudaStream_t stream)
{
    prefix<<<(unsigned)((8ll * rows + 127) / 128), 128, 0, stream>>>(out, (const int4 *)tokens, (const int4 *)cached, rows, n / 4);
}
