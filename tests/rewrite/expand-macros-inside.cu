// A macro that the function itself defines and undefines: its directives stay as they are.
// transform: expand-macros 0
// applies: line 8
// has: #define TAKE(at, by)
// has: sum += __ldg(p + (at)) * (by); \
// has: sum += __ldg(p + (2)) * (s); sum -= __ldg(p + (2) + 1) * (s);
#include <cuda_runtime.h>
__device__ float pair(const float *p, float s)
{
#define TAKE(at, by)               \
    sum += __ldg(p + (at)) * (by); \
    sum -= __ldg(p + (at) + 1) * (by);
    float sum = 0.0f;
    TAKE(0, s);
    TAKE(2, s);
#undef TAKE
    return sum;
}
__global__ void work(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = pair(in + 4 * i, 2.0f);
}
extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(out, in, n);
}
