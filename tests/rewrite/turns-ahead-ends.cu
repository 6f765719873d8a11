// A turn may end the loop: the loads of those that would follow are for nothing, and the rest is as it was.
// transform: turns-ahead 8
// applies: line 18
// has: bool going = true;
// has: for (long long first = (int)(0); going && first < n; first += 8) {
// has: if (turn < left) {
// has: x_0_ahead[turn] = x;
// has: const float x = x_0_ahead[turn];
// has: { going = false; break; }
// has: if (turn >= left)
// has: if (load_0_ahead[turn] < 0.0f) {
#include <cuda_runtime.h>

__global__ void find(int *at, const float *points, const float *from, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int found = -1;
    for (int k = 0; k < n; k++) {
        const float x = points[k] - from[i];
        if (x * x < 0.25f) {
            found = k;
            break;
        }
    }
    for (int k = 0; k < n; k++)
        if (points[k] < 0.0f) {
            found += k;
            break;
        }
    at[i] = found;
}

extern "C" void entry(int *at, const float *points, const float *from, int m, int n, cudaStream_t stream)
{
    find<<<m / 128, 128, 0, stream>>>(at, points, from, n);
}
