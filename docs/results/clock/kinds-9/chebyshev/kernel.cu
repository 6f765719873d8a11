#include <cuda_runtime.h>
// Where a body is at a time, by series of Chebyshev of 14 terms for each span and axis; a thread a time.
__global__ void places(double *out, const double *when, const double *terms, int n, int spans)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double at = when[i] * spans;
    int span = min((int)at, spans - 1);
    double x = 2.0 * (at - span) - 1.0;
    for (int axis = 0; axis < 3; axis++) {
        const double *own = terms + (3ll * span + axis) * 14;
        double b = 0.0, before = 0.0;
        for (int k = 13; k > 0; k--) {
            double next = own[k] + 2.0 * x * b - before;
            before = b;
            b = next;
        }
        out[3ll * i + axis] = own[0] + x * b - before;
    }
}
extern "C" void chebyshev(double *out, const double *when, const double *terms, int n, int spans, cudaStream_t stream)
{
    places<<<(n + 127) / 128, 128, 0, stream>>>(out, when, terms, n, spans);
}
