// A row of structs, at a place that each loop works out for itself; the block is a dim3, the length has a template
// parameter in it.
// transform: register-cache 1
// applies: line 25
// has: const four<4> w = row_kept[item];
// has: if (d / 4 <= 1 * block.x) {
#include <cuda_runtime.h>

template <int N> struct alignas(16) four {
    float at[N];
};

template <int N> __global__ void work(float *out, const float *in, int d)
{
    const int length = d / N;
    auto *row = reinterpret_cast<const four<N> *>(in);
    auto *to = reinterpret_cast<four<N> *>(out);
    float sum = 0;
    for (int i = threadIdx.x; i < length; i += blockDim.x) {
        int at = blockIdx.x * length + i;
        const four<4> v = row[at];
        sum += v.at[0];
    }
    sum = __shfl_sync(0xffffffffu, sum, 0);
    for (int j = threadIdx.x; j < length; j += blockDim.x) {
        int here = blockIdx.x * length + j;
        const four<4> w = row[here];
        four<4> x;
        for (int k = 0; k < N; k++)
            x.at[k] = w.at[k] - sum;
        to[here] = x;
    }
}

extern "C" void entry(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    dim3 grid(rows);
    dim3 block(d < 1024 ? d : 1024);
    work<4><<<grid, block, 0, stream>>>(out, in, d);
}
