#include <cuda_runtime.h>
// A warp a block of text, the list in its registers, 32 places in each: a ballot finds the byte, a shuffle moves what
// stands before it. Registers behind the one that has the byte are not looked at.
__global__ void __launch_bounds__(128)
    code(unsigned char *__restrict__ out, const unsigned char *__restrict__ in, int blocks, int n)
{
    int b = blockIdx.x * 4 + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (b >= blocks)
        return;
    const unsigned char *from = in + (long long)b * n;
    unsigned char *to = out + (long long)b * n;
    int list[8];
#pragma unroll
    for (int j = 0; j < 8; j++)
        list[j] = 32 * j + lane;
    for (int first = 0; first < n; first += 32) {
        int some = min(32, n - first), own = lane < some ? from[first + lane] : 0, place = 0;
        for (int i = 0; i < some; i++) {
            int byte = __shfl_sync(0xffffffffu, own, i), carry = byte;
#pragma unroll
            for (int j = 0; j < 8; j++) {
                unsigned found = __ballot_sync(0xffffffffu, list[j] == byte);
                int last = found ? __ffs(found) - 1 : 31;
                int moved = __shfl_sync(0xffffffffu, list[j], (lane + 31) & 31);
                int out_of = __shfl_sync(0xffffffffu, list[j], 31);
                if (lane <= last)
                    list[j] = lane == 0 ? carry : moved;
                carry = out_of;
                if (found) {
                    if (lane == i)
                        place = 32 * j + last;
                    break;
                }
            }
        }
        if (lane < some)
            to[first + lane] = place;
    }
}
extern "C" void move_to_front(unsigned char *out, const unsigned char *in, int blocks, int n, cudaStream_t stream)
{
    code<<<(blocks + 3) / 4, 128, 0, stream>>>(out, in, blocks, n);
}
