#include <cuda_runtime.h>
// A thread walks up eight planes and keeps the points below and above.
__global__ void laplace(float *__restrict__ out, const float *__restrict__ in, int nz, int ny, int nx)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, first = blockIdx.z * 8;
    if (x >= nx || y >= ny)
        return;
    size_t plane = (size_t)ny * nx, at = (size_t)first * plane + (size_t)y * nx + x;
    float below = first > 0 ? in[at - plane] : 0.0f, here = in[at];
    for (int z = first; z < first + 8 && z < nz; z++) {
        float above = z < nz - 1 ? in[at + plane] : 0.0f;
        float sum = -6.0f * here;
        sum += x > 0 ? in[at - 1] : 0.0f;
        sum += x < nx - 1 ? in[at + 1] : 0.0f;
        sum += y > 0 ? in[at - nx] : 0.0f;
        sum += y < ny - 1 ? in[at + nx] : 0.0f;
        sum += below;
        sum += above;
        out[at] = sum;
        below = here;
        here = above;
        at += plane;
    }
}
extern "C" void laplace3d(float *out, const float *in, int nz, int ny, int nx, cudaStream_t stream)
{
    laplace<<<dim3((nx + 31) / 32, (ny + 7) / 8, (nz + 7) / 8), dim3(32, 8), 0, stream>>>(out, in, nz, ny, nx);
}
