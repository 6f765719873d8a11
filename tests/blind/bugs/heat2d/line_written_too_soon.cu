// Bug: a block walks down 16 rows with one line in shared memory and one barrier a row; a fast warp writes the next
// row's centre while its neighbour still reads this row's. A second barrier, or a second line, is missing.
// A race for height > 1 and width > 1; on a device it shows at the seams of warps (width > 32), by their schedule.
#include <cstdint>

constexpr int WIDE = 128;
constexpr int DEEP = 16;

__global__ void __launch_bounds__(WIDE)
    heat2d_columns(float *__restrict__ out, const float *__restrict__ in, int height, int width, float alpha)
{
    __shared__ float line[WIDE + 2];
    const int x = blockIdx.x * WIDE + threadIdx.x;
    const bool inside = x < width;
    const int column = inside ? x : 0;
    const int first = blockIdx.y * DEEP;
    const int last = min(first + DEEP, height);
    const bool west = threadIdx.x == 0;
    const bool east = x == width - 1 || (inside && threadIdx.x == WIDE - 1);
    const int left = x == 0 ? width - 1 : x - 1;
    const int right = x == width - 1 ? 0 : x + 1;

    float up = in[(int64_t)(first == 0 ? height - 1 : first - 1) * width + column];
    float centre = in[(int64_t)first * width + column];
    for (int y = first; y < last; y++) {
        const int64_t row = (int64_t)y * width;
        const float down = in[(int64_t)(y == height - 1 ? 0 : y + 1) * width + column];
        line[threadIdx.x + 1] = centre;
        if (west)
            line[0] = in[row + left];
        __syncthreads();
        if (inside) {
            const float beside = east ? in[row + right] : line[threadIdx.x + 2];
            const float around = up + down + line[threadIdx.x] + beside;
            out[row + x] = centre + alpha * (around - 4.0f * centre);
        }
        up = centre;
        centre = down;
    }
}

extern "C" void heat2d(float *out, const float *in, int height, int width, float alpha, cudaStream_t stream)
{
    dim3 grid((width + WIDE - 1) / WIDE, (height + DEEP - 1) / DEEP);
    heat2d_columns<<<grid, WIDE, 0, stream>>>(out, in, height, width, alpha);
}
