#include <cuda_runtime.h>
// A warp a path, four days a lane: the peak of the lanes before is a scan of maxima by shuffles, and the next 128 days
// are on their way meanwhile.
__global__ void __launch_bounds__(128)
    worst(float *__restrict__ loss, const float4 *__restrict__ price, int paths, int quads)
{
    int path = blockIdx.x * 4 + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (path >= paths)
        return;
    const float4 *from = price + (long long)path * quads;
    float before = from[0].x, most = 0.0f;
    float4 next = from[min(lane, quads - 1)];
    for (int first = 0; first < quads; first += 32) {
        float4 p = next;
        next = from[min(first + 32 + lane, quads - 1)];
        float a = fmaxf(p.x, p.y), b = fmaxf(a, p.z), peak = fmaxf(fmaxf(b, p.w), before);
        float low = fminf(fminf(p.x, p.y), fminf(p.z, p.w));
        most = fmaxf(fmaxf(most, p.x - p.y), fmaxf(a - p.z, b - p.w));
#pragma unroll
        for (int step = 1; step < 32; step *= 2) {
            float other = __shfl_up_sync(0xffffffffu, peak, step);
            peak = lane >= step ? fmaxf(peak, other) : peak;
        }
        float ahead = __shfl_up_sync(0xffffffffu, peak, 1);
        ahead = lane > 0 ? ahead : before;
        if (first + lane < quads)
            most = fmaxf(most, ahead - low);
        before = __shfl_sync(0xffffffffu, peak, 31);
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
    if (lane == 0)
        loss[path] = most;
}
extern "C" void drawdown(float *loss, const float *price, int paths, int days, cudaStream_t stream)
{
    worst<<<(paths + 3) / 4, 128, 0, stream>>>(loss, (const float4 *)price, paths, days / 4);
}
