// Two kernels of one name, told apart by their namespaces; what is put above them stays outside of both.
// transform: vectorise 16
// applies: line 20
// has: packed<float, 4>
// has: rows::inner::work_vec4<<<
// has: columns::work<<<1, 32, 0, stream>>>
#include <cuda_runtime.h>

namespace columns {
__global__ void work(float *out, int n)
{
    out[threadIdx.x * n] = 0.0f;
}
} // namespace columns

namespace rows::inner {
constexpr int BLOCK = 64;
__global__ void work(float *out, const float *in, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = in[i] + 1.0f;
}
} // namespace rows::inner

extern "C" void entry(float *out, const float *in, float *other, int n, cudaStream_t stream)
{
    columns::work<<<1, 32, 0, stream>>>(other, n);
    rows::inner::work<<<1, rows::inner::BLOCK, 0, stream>>>(out, in, n);
}
