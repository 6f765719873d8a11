#include <cuda_runtime.h>
// The pose lies in shared memory in vectors; a block moves 256 vertices, or four times as many, whose places go in and out by way
// of shared memory, bones and weights as one vector each.
__global__ void __launch_bounds__(256)
    move(float *__restrict__ out, const float *__restrict__ rest, const uchar4 *__restrict__ bone,
         const float4 *__restrict__ weight, const float4 *__restrict__ pose, int n, int bones,
         int passes)
{
    extern __shared__ float4 matrix[];
    __shared__ float place[768];
    int t = threadIdx.x;
    for (int k = t; k < 3 * bones; k += 256)
        matrix[k] = pose[k];
    for (int pass = 0; pass < passes; pass++) {
        int first = (blockIdx.x * passes + pass) * 256, some = min(256, n - first);
        if (some <= 0)
            break;
        uchar4 b = bone[first + min(t, some - 1)];
        float4 w = weight[first + min(t, some - 1)];
        __syncthreads();
        for (int k = t; k < 3 * some; k += 256)
            place[k] = rest[3ll * first + k];
        __syncthreads();
        if (t < some) {
            float x = place[3 * t], y = place[3 * t + 1], z = place[3 * t + 2], sum[3] = {0.0f, 0.0f, 0.0f};
            int which[4] = {b.x, b.y, b.z, b.w};
            float by[4] = {w.x, w.y, w.z, w.w};
#pragma unroll
            for (int k = 0; k < 4; k++)
#pragma unroll
                for (int row = 0; row < 3; row++) {
                    float4 m = matrix[3 * which[k] + row];
                    sum[row] += by[k] * (m.x * x + m.y * y + m.z * z + m.w);
                }
            place[3 * t] = sum[0];
            place[3 * t + 1] = sum[1];
            place[3 * t + 2] = sum[2];
        }
        __syncthreads();
        for (int k = t; k < 3 * some; k += 256)
            out[3ll * first + k] = place[k];
    }
}
extern "C" void skinning(float *out, const float *rest, const unsigned char *bone, const float *weight,
                         const float *pose, int n, int bones, cudaStream_t stream)
{
    int passes = n < 1048576 ? 1 : 4;
    move<<<(n + 256 * passes - 1) / (256 * passes), 256, 48 * bones, stream>>>(
        out, rest, (const uchar4 *)bone, (const float4 *)weight, (const float4 *)pose, n, bones, passes);
}
