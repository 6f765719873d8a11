#include <cuda_runtime.h>
// Four lanes a group, 16 bytes each; the least goes round by shuffles.
__global__ void where(int *__restrict__ out, const int4 *__restrict__ in, long long groups)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x, g = i / 4;
    int lane = i % 4, at = lane * 4;
    int4 v = g < groups ? in[i] : make_int4(0, 0, 0, 0);
    int least = v.x;
    if (v.y < least) {
        least = v.y;
        at = lane * 4 + 1;
    }
    if (v.z < least) {
        least = v.z;
        at = lane * 4 + 2;
    }
    if (v.w < least) {
        least = v.w;
        at = lane * 4 + 3;
    }
#pragma unroll
    for (int d = 1; d < 4; d *= 2) {
        int other = __shfl_xor_sync(~0u, least, d), place = __shfl_xor_sync(~0u, at, d);
        if (other < least || (other == least && place < at)) {
            least = other;
            at = place;
        }
    }
    if (g < groups && lane == 0)
        out[g] = at;
}
extern "C" void group_argmin(int *out, const int *in, int rows, int d, cudaStream_t stream)
{
    long long groups = (long long)rows * d / 16;
    where<<<(unsigned)((groups * 4 + 255) / 256), 256, 0, stream>>>(out, (const int4 *)in, groups);
}
