// One element a thread; row and column by division. The grid shrinks, the quotient is shared by a vector.
// transform: vectorise 16
// applies: line 14
// has: int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * 4;
// has: packed_load<4>(&weight[column])
// has: out_v.at[k] = in_v.at[k] * weight_v.at[k] * scale[row];
// has: (blocks + 3) / 4
// has: d % 4 == 0
// lacks: n % 4
#include <cstdint>

__global__ void work(float *out, const float *in, const float *weight, const float *scale, int n, int d)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (int64_t)n * d)
        return;
    int64_t row = i / d, column = i % d;
    out[i] = in[i] * weight[column] * scale[row];
}

extern "C" void entry(float *out, const float *in, const float *weight, const float *scale, int n, int d, cudaStream_t stream)
{
    unsigned blocks = (unsigned)(((int64_t)n * d + 127) / 128);
    work<<<blocks, 128, 0, stream>>>(out, in, weight, scale, n, d);
}
