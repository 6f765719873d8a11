#include <cuda_runtime.h>
// The six neighbours less six times the point; beyond the rim are zeros.
__global__ void laplace(float *out, const float *in, int nz, int ny, int nx)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y, z = blockIdx.z;
    if (x >= nx || y >= ny)
        return;
    size_t at = ((size_t)z * ny + y) * nx + x, plane = (size_t)ny * nx;
    float sum = -6.0f * in[at];
    if (x > 0)
        sum += in[at - 1];
    if (x < nx - 1)
        sum += in[at + 1];
    if (y > 0)
        sum += in[at - nx];
    if (y < ny - 1)
        sum += in[at + nx];
    if (z > 0)
        sum += in[at - plane];
    if (z < nz - 1)
        sum += in[at + plane];
    out[at] = sum;
}
extern "C" void laplace3d(float *out, const float *in, int nz, int ny, int nx, cudaStream_t stream)
{
    laplace<<<dim3((nx + 31) / 32, (ny + 3) / 4, nz), dim3(32, 4), 0, stream>>>(out, in, nz, ny, nx);
}
