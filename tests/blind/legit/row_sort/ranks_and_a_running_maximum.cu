// expect: correct
// A key goes to the place that the number of lesser keys says; equal ones share it, and a running maximum fills the gaps behind them. Gaps hold the least number, which is right where the least number itself is a key.
#include <climits>

__global__ void __launch_bounds__(1024) sort_kernel(int *out, const int *in, int n)
{
    __shared__ int keys[1024], sorted[1024], tops[32];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int key = t < n ? in[(long long)blockIdx.x * n + t] : INT_MAX, place = 0;
    keys[t] = key;
    sorted[t] = INT_MIN;
    __syncthreads();
    const int4 *v = (const int4 *)keys;
    // beyond n there are only largest keys, which are less than nothing
    for (int i = 0; i < (n + 3) / 4; i++) {
        int4 k = v[i];
        place += (k.x < key) + (k.y < key) + (k.z < key) + (k.w < key);
    }
    if (t < n)
        atomicMax(&sorted[place], key);
    __syncthreads();
    int x = sorted[t];
    for (int s = 1; s < 32; s *= 2) {
        int left = __shfl_up_sync(~0u, x, s);
        x = lane >= s ? max(x, left) : x;
    }
    if (lane == 31)
        tops[warp] = x;
    __syncthreads();
    for (int i = 0; i < warp; i++)
        x = max(x, tops[i]);
    if (t < n)
        out[(long long)blockIdx.x * n + t] = x;
}

extern "C" void row_sort(int *out, const int *in, int rows, int n, cudaStream_t stream)
{
    sort_kernel<<<rows, (n + 31) / 32 * 32, 0, stream>>>(out, in, n);
}
