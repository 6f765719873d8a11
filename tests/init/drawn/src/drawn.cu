// What lots of kernels from repositories that nobody had seen taught.
#include "launching.h"
#include "marks.cuh"

#include <cassert>
#include <functional>

namespace drawn {

// A type that is constrained by a concept.
template <Plain T>
__global__ void triple_each(const T *x, T *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = thrice<T>(x[i]);
}

// Numbers of places in rows, each of which is written once.
__global__ void invert_order(const int *order, int *place, int rows, int width)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * width) {
        const int row = i / width;
        place[row * width + order[i]] = i;
    }
}

// What is written hangs on what is read: with zeros nothing is.
__global__ void raise_places(const float *from, float *to, const int *where, int n, int width)
{
    const int i = blockIdx.x;
    if (i < n) {
        const int read = where[2 * i] * width, write = where[2 * i + 1] * width;
        for (int k = threadIdx.x; k < width; k += blockDim.x) {
            if (to[write + k] < from[read + k])
                to[write + k] = from[read + k];
        }
    }
}

// A launch through a function that takes grid, block, bytes and stream in turn, of which one is a reference.
__global__ void first_of_each(const float *x, float *y, int length, int kept)
{
    assert(2 * kept <= length);
    for (int k = threadIdx.x; k < kept; k += blockDim.x)
        y[blockIdx.x * kept + k] = x[blockIdx.x * length + k];
}

void take_first(const vendorStream_t &stream, const float *x, float *y, int rows, int length, int kept)
{
    int threads = kept;
    if (threads > 256)
        threads = 256;
    CHECKED(other::LaunchAny(first_of_each, rows, threads, 0, stream, x, y, length, kept));
}

// The function around the launch cannot be read, and the kernel's own type of a number is another one.
__global__ void scale_board(float *board, const unsigned width, const unsigned height)
{
    const unsigned column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (column < width && row < height)
        board[row * width + column] *= 2.f;
}

constexpr int BOARD_X = 16, BOARD_Y = 8;

void scale_all(std::function<char *(unsigned long)> memory, float *board, const int width, const int height)
{
    const dim3 grid(parts_of(width, BOARD_X), parts_of(height, BOARD_Y), 1);
    const dim3 block(BOARD_X, BOARD_Y, 1);
    scale_board<<<grid, block>>>(board, width, height);
}

// A number that no path sets, which the kernel asks for in another one alone.
__global__ void copy_or_skip(const float *x, float *y, int n, bool packed, int first)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = packed ? x[i + first] : x[i];
}

void copy_plain(const float *x, float *y, int n)
{
    int first, count;
    bool packed = false;
    if (packed)
        first = 1;
    count = n;
    copy_or_skip<<<(count + 255) / 256, 256>>>(x, y, count, packed, first);
}

} // namespace drawn

// Names that the program that compiles it gives types.
extern "C" __global__ void move_points(real3 *points, const real *by, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        real3 p = points[i];
        points[i] = make_real3(p.x + by[0], p.y + by[1], p.z + by[2]);
    }
}

#if WITH_SCRATCH
extern __shared__ float scratch[];
#endif

__global__ void turn_row(const float *x, float *y, int width)
{
    if (threadIdx.x < width)
        scratch[threadIdx.x] = x[blockIdx.x * width + threadIdx.x];
    __syncthreads();
    if (threadIdx.x < width)
        y[blockIdx.x * width + threadIdx.x] = scratch[width - 1 - threadIdx.x];
}

void turn_rows(const float *x, float *y, int rows, int width)
{
    turn_row<<<rows, width, width * sizeof(float)>>>(x, y, width);
}

// Not every value of an enumeration is one that the kernel takes.
enum class Rounding { none = 0, down = 1, up = 2 };

template <Rounding R>
__global__ void round_each(const float *x, float *y, int n)
{
    static_assert(R == Rounding::down || R == Rounding::up, "R says where to");
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = R == Rounding::down ? floorf(x[i]) : ceilf(x[i]);
}
