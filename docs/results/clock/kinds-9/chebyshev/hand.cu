#include <cuda_runtime.h>
// Terms in pairs, all axes at once; what comes out goes through shared memory.
__global__ void places(double *__restrict__ out, const double *__restrict__ when, const double2 *__restrict__ terms,
                       int n, int spans)
{
    __shared__ double to[3 * 128];
    int first = blockIdx.x * 128, some = min(128, n - first);
    if (threadIdx.x < some) {
        double at = when[first + threadIdx.x] * spans;
        int span = min((int)at, spans - 1);
        double x = 2.0 * (at - span) - 1.0, twice = 2.0 * x, b[3] = {}, before[3] = {};
        const double2 *own = terms + 21ll * span;
#pragma unroll
        for (int k = 6; k >= 0; k--)
#pragma unroll
            for (int axis = 0; axis < 3; axis++) {
                double2 two = own[7 * axis + k];
                before[axis] = two.y + twice * b[axis] - before[axis];
                b[axis] = two.x + (k > 0 ? twice : x) * before[axis] - b[axis];
            }
#pragma unroll
        for (int axis = 0; axis < 3; axis++)
            to[3 * threadIdx.x + axis] = b[axis];
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 3 * some; k += 128)
        out[3ll * first + k] = to[k];
}
extern "C" void chebyshev(double *out, const double *when, const double *terms, int n, int spans, cudaStream_t stream)
{
    places<<<(n + 127) / 128, 128, 0, stream>>>(out, when, (const double2 *)terms, n, spans);
}
