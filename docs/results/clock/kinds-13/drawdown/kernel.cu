#include <cuda_runtime.h>
// The largest loss from a peak to a later low on each of many paths of prices; a thread a path.
__global__ void worst(float *loss, const float *price, int paths, int days)
{
    int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= paths)
        return;
    float peak = price[(long long)path * days], most = 0.0f;
    for (int day = 1; day < days; day++) {
        float now = price[(long long)path * days + day];
        peak = fmaxf(peak, now);
        most = fmaxf(most, peak - now);
    }
    loss[path] = most;
}
extern "C" void drawdown(float *loss, const float *price, int paths, int days, cudaStream_t stream)
{
    worst<<<(paths + 255) / 256, 256, 0, stream>>>(loss, price, paths, days);
}
