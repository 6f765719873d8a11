#include <cuda_runtime.h>
// Blocks widen boxes of their own in shared memory, from four points a thread in three vectors, and then the scene's
// once. Minima are kept as maxima of the complement, so that all is one table.
__global__ void __launch_bounds__(256)
    widen(int *__restrict__ low, int *__restrict__ high, const int4 *__restrict__ point,
          const uchar4 *__restrict__ object, int n, int objects)
{
    __shared__ int box[1536];
    int t = threadIdx.x;
    for (int k = t; k < 6 * objects; k += 256)
        box[k] = -2147483647 - 1;
    __syncthreads();
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) {
        int4 a = point[3ll * i], b = point[3ll * i + 1], c = point[3ll * i + 2];
        uchar4 of = object[i];
        int at[12] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w}, which[4] = {of.x, of.y, of.z, of.w};
#pragma unroll
        for (int k = 0; k < 12; k++) {
            atomicMax(&box[6 * which[k / 3] + k % 3], ~at[k]);
            atomicMax(&box[6 * which[k / 3] + 3 + k % 3], at[k]);
        }
    }
    __syncthreads();
    for (int k = t; k < 6 * objects; k += 256) {
        int one = k / 6, axis = k % 6, best = box[k];
        if (best == -2147483647 - 1)
            continue;
        if (axis < 3)
            atomicMin(&low[3 * one + axis], ~best);
        else
            atomicMax(&high[3 * one + axis - 3], best);
    }
}
extern "C" void bounds(int *low, int *high, const int *point, const unsigned char *object, int n, int objects,
                       cudaStream_t stream)
{
    int blocks = (n / 4 + 255) / 256;
    widen<<<blocks < 528 ? blocks : 528, 256, 0, stream>>>(low, high, (const int4 *)point, (const uchar4 *)object,
                                                           n / 4, objects);
}
