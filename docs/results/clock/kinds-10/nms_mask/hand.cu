#include <cuda_runtime.h>
// A block 64 rows; a warp a word of columns, two boxes a lane, and the votes of its lanes are a row's bits.
struct Box {
    float left, right, top, bottom, area;
};
__device__ __forceinline__ Box edges(const float2 *__restrict__ centre, const float2 *__restrict__ size, int i, int n)
{
    Box b = {0.0f, 0.0f, 0.0f, 0.0f, 1.0f};
    if (i < n) {
        float2 c = centre[i], s = size[i];
        b.left = c.x - 0.5f * s.x;
        b.right = c.x + 0.5f * s.x;
        b.top = c.y - 0.5f * s.y;
        b.bottom = c.y + 0.5f * s.y;
        b.area = s.x * s.y;
    }
    return b;
}
__device__ __forceinline__ bool overlap(float4 r, float area, const Box &c, float most)
{
    float w = fmaxf(fminf(r.y, c.right) - fmaxf(r.x, c.left), 0.0f),
          h = fmaxf(fminf(r.w, c.bottom) - fmaxf(r.z, c.top), 0.0f), both = w * h;
    return both > most * (area + c.area - both);
}
__global__ void __launch_bounds__(128)
    overlaps(unsigned long long *__restrict__ mask, const float2 *__restrict__ centre, const float2 *__restrict__ size,
             float most, int n, int words)
{
    __shared__ float4 row[64];
    __shared__ float areas[64];
    int lane = threadIdx.x % 32, word = 4 * blockIdx.x + threadIdx.x / 32, first = 64 * blockIdx.y;
    if (threadIdx.x < 64) {
        Box b = edges(centre, size, first + threadIdx.x, n);
        row[threadIdx.x] = make_float4(b.left, b.right, b.top, b.bottom);
        areas[threadIdx.x] = b.area;
    }
    __syncthreads();
    if (word >= words)
        return;
    unsigned long long mine[2] = {0, 0};
    if (64 * word + 63 > first) {
        int j = 64 * word + lane;
        Box low = edges(centre, size, j, n), high = edges(centre, size, j + 32, n);
#pragma unroll
        for (int half = 0; half < 2; half++) {
#pragma unroll 4
            for (int k = 0; k < 32; k++) {
                int i = 32 * half + k;
                float4 r = row[i];
                float area = areas[i];
                unsigned a = __ballot_sync(~0u, j > first + i && j < n && overlap(r, area, low, most));
                unsigned b = __ballot_sync(~0u, j + 32 > first + i && j + 32 < n && overlap(r, area, high, most));
                if (lane == k)
                    mine[half] = (unsigned long long)b << 32 | a;
            }
        }
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {
        int i = first + 32 * half + lane;
        if (i < n)
            mask[(long long)i * words + word] = mine[half];
    }
}
extern "C" void nms_mask(unsigned long long *mask, const float *centre, const float *size, float most, int n,
                         cudaStream_t stream)
{
    int words = (n + 63) / 64;
    overlaps<<<dim3((words + 3) / 4, words), 128, 0, stream>>>(mask, (const float2 *)centre, (const float2 *)size, most,
                                                               n, words);
}
