#include <cuda_runtime.h>
// Four channels a thread, four places of a row in turn: three columns of the window stay in registers.
__device__ static float4 at(const float4 *in, int y, int x, int h, int w, int c4, int k)
{
    if (y < 0 || y >= h || x < 0 || x >= w)
        return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    return in[((long long)y * w + x) * c4 + k];
}
__global__ void depthwise(float4 *__restrict__ out, const float4 *__restrict__ in, const float4 *__restrict__ taps, int h, int w, int c4)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * 4, y = blockIdx.z;
    if (k >= c4)
        return;
    float4 t[9], v[3][3];
#pragma unroll
    for (int q = 0; q < 9; q++)
        t[q] = taps[(long long)q * c4 + k];
#pragma unroll
    for (int r = 0; r < 3; r++) {
        v[r][0] = at(in, y + r - 1, first - 1, h, w, c4, k);
        v[r][1] = at(in, y + r - 1, first, h, w, c4, k);
    }
#pragma unroll
    for (int s = 0; s < 4; s++) {
        float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (first + s >= w)
            return;
#pragma unroll
        for (int r = 0; r < 3; r++) {
            v[r][2] = at(in, y + r - 1, first + s + 1, h, w, c4, k);
#pragma unroll
            for (int q = 0; q < 3; q++) {
                sum.x += v[r][q].x * t[r * 3 + q].x;
                sum.y += v[r][q].y * t[r * 3 + q].y;
                sum.z += v[r][q].z * t[r * 3 + q].z;
                sum.w += v[r][q].w * t[r * 3 + q].w;
            }
            v[r][0] = v[r][1];
            v[r][1] = v[r][2];
        }
        out[((long long)y * w + first + s) * c4 + k] = sum;
    }
}
extern "C" void dwconv_nhwc(float *out, const float *in, const float *taps, int h, int w, int c, cudaStream_t stream)
{
    depthwise<<<dim3((c / 4 + 63) / 64, (w + 3) / 4, h), 64, 0, stream>>>((float4 *)out, (const float4 *)in, (const float4 *)taps, h, w, c / 4);
}
