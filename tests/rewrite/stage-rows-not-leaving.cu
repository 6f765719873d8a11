// The threads of a block meet, and some may leave before.
// transform: stage-rows -1
// leaves
#include <cstdint>

__global__ void solve(float *x, const float *l, int n)
{
    __shared__ float found[32];
    int r = blockIdx.x * 32 + threadIdx.x;
    if (l[r * 32] > 4.0f)
        return;
    for (int k = 0; k < 32; k++) {
        found[threadIdx.x] = l[r * 32 + k];
        __syncwarp();
        x[r] += found[k];
    }
}

extern "C" void entry(float *x, const float *l, int n, cudaStream_t stream)
{
    solve<<<n, 32, 0, stream>>>(x, l, n);
}
