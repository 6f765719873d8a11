#include <cuda_runtime.h>
// Bounding boxes of the objects of a scene, widened by points in fixed point that each belong to one; a thread a
// point, six atomics.
__global__ void widen(int *low, int *high, const int *point, const unsigned char *object, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int axis = 0; axis < 3; axis++) {
        int at = point[3ll * i + axis];
        atomicMin(&low[3 * object[i] + axis], at);
        atomicMax(&high[3 * object[i] + axis], at);
    }
}
extern "C" void bounds(int *low, int *high, const int *point, const unsigned char *object, int n, int objects,
                       cudaStream_t stream)
{
    widen<<<(n + 255) / 256, 256, 0, stream>>>(low, high, point, object, n);
}
