#include <cuda_runtime.h>
// A warp a pair, two columns a lane: rows go through the lanes one after the other.
__global__ void distance(int *__restrict__ out, const unsigned char *__restrict__ a, const uchar2 *__restrict__ b, int n)
{
    __shared__ unsigned char letters[4][64];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    long long i = (long long)blockIdx.x * 4 + warp;
    if (i >= n)
        return;
    ((uchar2 *)letters[warp])[lane] = ((const uchar2 *)a)[i * 32 + lane];
    uchar2 own = b[i * 32 + lane];
    __syncwarp();
    int first = 2 * lane + 1, second = 2 * lane + 2, corner = 2 * lane;
    for (int s = 0; s < 95; s++) {
        int left = __shfl_up_sync(~0u, second, 1), r = s - lane;
        if (r >= 0 && r < 64) {
            left = lane == 0 ? r + 1 : left;
            int letter = letters[warp][r], was = first;
            first = min(min(first, left) + 1, corner + (letter != own.x));
            second = min(min(second, first) + 1, was + (letter != own.y));
            corner = left;
        }
    }
    if (lane == 31)
        out[i] = second;
}
extern "C" void edit_distance(int *out, const unsigned char *a, const unsigned char *b, int n, cudaStream_t stream)
{
    distance<<<(n + 3) / 4, 128, 0, stream>>>(out, a, (const uchar2 *)b, n);
}
