#include <cuda_runtime.h>
// The first pass of marching cubes: which of a cell's eight corners are above the level, as the bits of a byte. A
// thread a cell.
__global__ void classify(unsigned char *cases, const float *field, float level, int nz, int ny, int nx)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
    if (x >= nx - 1)
        return;
    int bits = 0;
    for (int corner = 0; corner < 8; corner++) {
        int cx = x + (corner & 1), cy = y + (corner >> 1 & 1), cz = z + (corner >> 2);
        if (field[((long long)cz * ny + cy) * nx + cx] > level)
            bits |= 1 << corner;
    }
    cases[((long long)z * (ny - 1) + y) * (nx - 1) + x] = bits;
}
extern "C" void cube_class(unsigned char *cases, const float *field, float level, int nz, int ny, int nx,
                           cudaStream_t stream)
{
    classify<<<dim3((nx + 126) / 128, ny - 1, nz - 1), 128, 0, stream>>>(cases, field, level, nz, ny, nx);
}
