// Kernels whose shapes, ranges and roles only a guess can tell; each guess must be marked as one.
#include <cuda_runtime.h>
#include <cstdint>

// Marks where a run of equal keys begins: of `starts` only some elements are written.
__global__ void mark_runs(const int *keys, int *starts, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && (i == 0 || keys[i] != keys[i - 1]))
        starts[i] = 1;
}

// Who comes first takes the first seat.
__global__ void take_seats(const float *weight, int *taken, int *seats, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        seats[atomicAdd(taken, 1)] = weight[i] > 0.0f ? i : -i;
}

void run_take_seats(const float *weight, int *taken, int *seats, int n, cudaStream_t stream)
{
    cudaMemsetAsync(taken, 0, sizeof(int), stream);
    take_seats<<<(n + 255) / 256, 256, 0, stream>>>(weight, taken, seats, n);
}

// The number of an image is a float, as detectors write it, and threads are counted over all four extents.
__global__ void crop_boxes(int total, const float *image, const float *boxes, float *out, int channels, int height,
                           int width)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total)
        return;
    const int x = i % width, y = i / width % height, c = i / width / height % channels;
    const int box = i / width / height / channels;
    const int which = (int)boxes[2 * box];
    out[i] = image[((which * channels + c) * height + y) * width + x] + boxes[2 * box + 1];
}

void run_crop_boxes(const float *image, const float *boxes, float *out, int total, int channels, int height, int width,
                    cudaStream_t stream)
{
    crop_boxes<<<(total + 127) / 128, 128, 0, stream>>>(total, image, boxes, out, channels, height, width);
}

// One row of 128 sums for each step and the one behind the last.
__global__ void step_sums(const float *x, float *sums, int columns, int steps)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns)
        return;
    for (int step = 0; step <= steps; step++)
        atomicAdd(&sums[step * 128 + column % 128], x[column] * step);
}

// Where the largest value stands decides what is read.
__global__ void largest_label(const float *values, const int *labels, int *out, int rows, int width)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    int best = 0;
    for (int i = 1; i < width; i++)
        best = values[row * width + i] > values[row * width + best] ? i : best;
    out[row] = labels[row * width + best];
}

// A single thread goes through all of it.
__global__ void running_total(const int *counts, int *totals, int n)
{
    int sum = 0;
    if (threadIdx.x != 0 || blockIdx.x != 0)
        return;
    for (int i = 0; i < n; i++)
        totals[i] = sum += counts[i];
}

// Of more than two parts the third would go nowhere: only with few parts does it run.
__global__ void deal_rows(const float *x, float *even, float *odd, int width, int parts)
{
    const int part = blockIdx.x % parts, row = blockIdx.x / parts;
    float *to = part == 0 ? even : nullptr;
    if (part == 1)
        to = odd;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        to[row * width + i] = x[blockIdx.x * width + i];
}

// The flag asks for three channels.
__global__ void swap_channels(const float *x, float *out, int pixels, int channels, bool swap)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels)
        return;
    for (int c = 0; c < channels; c++)
        out[i * channels + c] = x[i * channels + (swap ? 2 - c : c)];
}

// The last element of each row, of which a length of 0 has none.
__global__ void waiting(const float *x, const int *lengths, float *out, int rows, int width)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows)
        out[row] = x[row * width + lengths[row] - 1] + x[row * width + width - 1];
}

// Two kernels of one name.
__global__ void halve(const float *x, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.5f * x[i];
}

__global__ void halve(const int *x, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[i] / 2;
}

enum class Width { one, two, four };

template <int N> __global__ void copy_groups(const float *x, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < N && i * N + k < n; k++)
        out[i * N + k] = x[i * N + k];
}

void run_copy_groups(const float *x, float *out, int n, Width width, cudaStream_t stream)
{
    switch (width) {
    case Width::two:
        copy_groups<2><<<(n + 511) / 512, 256, 0, stream>>>(x, out, n);
        break;
    case Width::four:
        copy_groups<4><<<(n + 1023) / 1024, 256, 0, stream>>>(x, out, n);
        break;
    default:
        return;
    }
}

// ---- what launchers of kernels alone are made of

struct LevelParams {
    const float *level[4];
    const float2 *shift;
    float *out;
    int width;
    int height;
};

template <typename T> static __device__ void shift_level_body(const LevelParams p)
{
    extern __shared__ float tile[];
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= p.width || y >= p.height)
        return;
    tile[threadIdx.x] = p.level[0][y * p.width + x];
    p.out[y * p.width + x] = tile[threadIdx.x] + p.shift[x].x;
}

__global__ void shift_level(const LevelParams p)
{
    shift_level_body<float>(p);
}

template <typename T> static __device__ T doubled(T x)
{
    return x + x;
}

typedef float (*unary_t)(float);

static __device__ float twice(float x)
{
    return doubled(x);
}

template <int STEP, unary_t F, typename size_type> __global__ void apply_each(const float *x, float *out, size_type n)
{
    const auto count = n;
    const auto i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < static_cast<uint64_t>(count))
        out[i] = F(x[i]) * STEP;
}

template <int STEP, unary_t F, typename size_type> void run_apply(const float *x, float *out, size_type n, cudaStream_t stream)
{
    apply_each<STEP, F, size_type><<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}

void run_apply_twice(const float *x, float *out, int n, cudaStream_t stream)
{
    run_apply<2, twice>(x, out, n, stream);
}

#ifdef TINY_WITH_GPU
__global__ void negate_each(const float *x, float *out, int64_t n)
{
    const auto i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < static_cast<uint64_t>(n))
        out[i] = -x[i];
}
#endif

// flags without which nothing is done
__global__ void add_where(const bool *where, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && where[i])
        y[i] += x[i];
}
