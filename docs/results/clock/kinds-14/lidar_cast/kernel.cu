#include <cuda_runtime.h>
// What a robot's laser would see at each of many poses of a particle filter: beams go over a map of occupancies,
// in steps of 16.16 fixed point, until a cell is taken, the map ends or 256 steps are done. A thread a beam.
__global__ void cast(int *range, const unsigned char *map, const int *px, const int *py, const int *dir, int poses,
                     int beams, int h, int w)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= poses * beams)
        return;
    int pose = i / beams, beam = i % beams, s = 1;
    for (; s < 256; s++) {
        int x = ((px[pose] << 16) + 32768 + dir[beam * 2] * s) >> 16;
        int y = ((py[pose] << 16) + 32768 + dir[beam * 2 + 1] * s) >> 16;
        if (x < 0 || y < 0 || x >= w || y >= h)
            break;
        if (map[y * w + x] >= 98)
            break;
    }
    range[i] = s;
}
extern "C" void lidar_cast(int *range, const unsigned char *map, const int *px, const int *py, const int *dir,
                           int poses, int beams, int h, int w, cudaStream_t stream)
{
    cast<<<(poses * beams + 255) / 256, 256, 0, stream>>>(range, map, px, py, dir, poses, beams, h, w);
}
