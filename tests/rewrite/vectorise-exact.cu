// No bound check: the grid is exact, and shrinks where it is whole fours of blocks.
// transform: vectorise 16
// applies: line 12
// has: (n + m) % 4 == 0
// has: work_vec4<<<((n + m) + 3) / 4, 128, 0, stream>>>
// has: in_v.at[k] * 2.0f
#include <cstdint>

__global__ void work(float *out, const float *in)
{
    int lane = threadIdx.x;
    int i = blockIdx.x * blockDim.x + lane;
    out[i] = in[i] * 2.0f;
}

extern "C" void entry(float *out, const float *in, int n, int m, cudaStream_t stream)
{
    work<<<n + m, 128, 0, stream>>>(out, in);
}
