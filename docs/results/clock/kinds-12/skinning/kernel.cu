#include <cuda_runtime.h>
// Vertices of a character moved by its skeleton: each by four bones, a matrix of three rows of four each, weighed. A
// thread a vertex.
__global__ void move(float *out, const float *rest, const unsigned char *bone, const float *weight, const float *pose,
                     int n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int row = 0; row < 3; row++) {
        float sum = 0.0f;
        for (int k = 0; k < 4; k++) {
            const float *m = pose + 12 * bone[4 * i + k] + 4 * row;
            float moved = m[0] * rest[3 * i] + m[1] * rest[3 * i + 1] + m[2] * rest[3 * i + 2] + m[3];
            sum += weight[4 * i + k] * moved;
        }
        out[3 * i + row] = sum;
    }
}
extern "C" void skinning(float *out, const float *rest, const unsigned char *bone, const float *weight,
                         const float *pose, int n, int bones, cudaStream_t stream)
{
    move<<<(n + 255) / 256, 256, 0, stream>>>(out, rest, bone, weight, pose, n);
}
