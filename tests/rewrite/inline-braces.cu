// Its own variables have names of the kernel's, and a template argument is said at the call.
// transform: inline 0
// applies: line 20
// has: int at2 = x;
// has: sum[at2 * 4] = 4;
// has: at = at + 1;
#include <cuda_runtime.h>

template <int N> __device__ void put(int *to, int at)
{
    int *sum = to;
    sum[at * N] = N;
}

__global__ void work(int *out)
{
    int x = threadIdx.x, at = 0, sum = 1;
    at = at + 1;
    if (sum > 0) {
        put<4>(out, x);
    }
    out[x * 4 + at] = sum;
}

extern "C" void entry(int *out, cudaStream_t stream)
{
    work<<<1, 128, 0, stream>>>(out);
}
