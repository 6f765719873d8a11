#include <cuda_runtime.h>
// Balls in shared memory as vectors, two rays a thread.
__global__ void cast(float *__restrict__ near, const float4 *__restrict__ from, const float4 *__restrict__ to, const float4 *__restrict__ ball, int n, int m)
{
    __shared__ float4 balls[1024];
    for (int j = threadIdx.x; j < m; j += 128)
        balls[j] = ball[j];
    __syncthreads();
    int i[2] = {(int)(blockIdx.x * 256 + threadIdx.x), (int)(blockIdx.x * 256 + threadIdx.x + 128)};
    float4 o[2], d[2];
    float square[2], least[2] = {1.0e30f, 1.0e30f};
#pragma unroll
    for (int q = 0; q < 2; q++) {
        o[q] = from[min(i[q], n - 1)];
        d[q] = to[min(i[q], n - 1)];
        square[q] = d[q].x * d[q].x + d[q].y * d[q].y + d[q].z * d[q].z;
    }
    for (int j = 0; j < m; j++) {
        float4 b = balls[j];
#pragma unroll
        for (int q = 0; q < 2; q++) {
            float x = b.x - o[q].x, y = b.y - o[q].y, z = b.z - o[q].z;
            float along = (x * d[q].x + y * d[q].y + z * d[q].z) / square[q];
            float px = x - along * d[q].x, py = y - along * d[q].y, pz = z - along * d[q].z;
            float inside = fmaxf(b.w * b.w - (px * px + py * py + pz * pz), 0.0f);
            least[q] = fminf(least[q], along - sqrtf(inside / square[q]));
        }
    }
#pragma unroll
    for (int q = 0; q < 2; q++)
        if (i[q] < n)
            near[i[q]] = least[q];
}
extern "C" void ray_sphere(float *near, const float *from, const float *to, const float *ball, int n, int m, cudaStream_t stream)
{
    cast<<<(n + 255) / 256, 128, 0, stream>>>(near, (const float4 *)from, (const float4 *)to, (const float4 *)ball, n, m);
}
