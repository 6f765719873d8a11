#include <cuda_runtime.h>
// Eight steps at a time: their cells are read at once, none waits for the one before, and the first that ends the beam
// counts. Cells outside of the map are not read. Places are added up, not multiplied.
__global__ void __launch_bounds__(128)
    cast(int *__restrict__ range, const unsigned char *__restrict__ map, const int *__restrict__ px,
         const int *__restrict__ py, const int2 *__restrict__ dir, int many, unsigned beams, int h, int w)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= many)
        return;
    unsigned pose = (unsigned)i / beams, beam = i - pose * beams;
    int2 d = dir[beam];
    int x = (px[pose] << 16) + 32768, y = (py[pose] << 16) + 32768, s = 1;
    for (; s < 256; s += 8) {
        unsigned stops = 0;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            x += d.x;
            y += d.y;
            int cx = x >> 16, cy = y >> 16;
            int cell = 100;
            if ((unsigned)cx < (unsigned)w && (unsigned)cy < (unsigned)h)
                cell = map[cy * w + cx];
            stops |= (unsigned)(cell >= 98) << k;
        }
        if (stops) {
            s += __ffs(stops) - 1;
            break;
        }
    }
    range[i] = min(s, 256);
}
extern "C" void lidar_cast(int *range, const unsigned char *map, const int *px, const int *py, const int *dir,
                           int poses, int beams, int h, int w, cudaStream_t stream)
{
    cast<<<(poses * beams + 127) / 128, 128, 0, stream>>>(range, map, px, py, (const int2 *)dir, poses * beams,
                                                          (unsigned)beams, h, w);
}
