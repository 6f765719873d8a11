#include <cuda_runtime.h>
// Eight lanes a string, a word of four places each, of which the first four letters are compared at once; only where
// these agree the rest is looked at.
__global__ void __launch_bounds__(128)
    search(int *__restrict__ hits, const unsigned char *__restrict__ text, const int *__restrict__ start,
           const unsigned char *__restrict__ pattern, int rows, int m, int words)
{
    int lane = threadIdx.x & 7, row = blockIdx.x * 16 + (threadIdx.x >> 3), count = 0;
    const unsigned *word = (const unsigned *)text;
    unsigned want = 0, mask = 0;
    for (int k = 0; k < 4 && k < m; k++) {
        want |= (unsigned)pattern[k] << 8 * k;
        mask |= 0xffu << 8 * k;
    }
    if (row < rows) {
        int first = start[row], last = start[row + 1] - m;
        for (int w = first / 4 + lane; 4 * w <= last; w += 8) {
            unsigned low = word[w], high = w + 1 < words ? word[w + 1] : 0u;
#pragma unroll
            for (int k = 0; k < 4; k++) {
                int at = 4 * w + k;
                if (((__funnelshift_r(low, high, 8 * k) ^ want) & mask) == 0 && at >= first && at <= last) {
                    int more = 4;
                    while (more < m && text[at + more] == pattern[more])
                        more++;
                    count += more >= m;
                }
            }
        }
    }
    for (int k = 4; k > 0; k /= 2)
        count += __shfl_xor_sync(0xffffffffu, count, k);
    if (row < rows && lane == 0)
        hits[row] = count;
}
extern "C" void like_count(int *hits, const unsigned char *text, const int *start, const unsigned char *pattern,
                           int rows, int bytes, int m, cudaStream_t stream)
{
    search<<<(rows + 15) / 16, 128, 0, stream>>>(hits, text, start, pattern, rows, m, bytes / 4);
}
