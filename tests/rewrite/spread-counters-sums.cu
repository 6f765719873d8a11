// Sums per group, with a start of their own, in a template; twice as many counters as groups.
// transform: spread-counters 8
// applies: line 11
// has: __shared__ T total[(2 * GROUPS) * 8];
// has: spread_set<8>(&total[threadIdx.x * 8], T(begin));
// has: atomicAdd(&total[(in[i] % GROUPS + GROUPS) * 8 + threadIdx.x % 8], T(i));
// has: out[threadIdx.x] = spread_sum<8>(&total[threadIdx.x * 8]);
#include <cuda_runtime.h>
template <typename T, int GROUPS> __global__ void work(T *out, const unsigned *in, int begin, int n)
{
    __shared__ T total[2 * GROUPS];
    if (threadIdx.x < 2 * GROUPS)
        total[threadIdx.x] = T(begin);
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(&total[in[i] % GROUPS + GROUPS], T(i));
    __syncthreads();
    if (threadIdx.x < 2 * GROUPS)
        out[threadIdx.x] = total[threadIdx.x];
}

extern "C" void entry(int *out, const unsigned *in, int begin, int n, cudaStream_t stream)
{
    work<int, 16><<<1, 256, 0, stream>>>(out, in, begin, n);
}
