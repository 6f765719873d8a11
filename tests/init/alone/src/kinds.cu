// What parameters and sizes may be that no caller tells.
#include <cuda_runtime.h>

struct point {
    float x, y, z;
};

struct entry {
    int key;
    float weight;
    short tag;
};

enum request { request_none, request_write, request_add };

typedef unsigned long long int counter_t;

__global__ void lengths(const point *points, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = sqrtf(points[i].x * points[i].x + points[i].y * points[i].y + points[i].z * points[i].z);
}

__global__ void keys_of(const entry *entries, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = entries[i].key;
}

__global__ void answer(const float *x, float *out, int n, request what)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && what != request_none)
        out[i] = what == request_write ? x[i] : out[i] + x[i];
}

__global__ void widen_counts(const int *x, counter_t *out, counter_t n)
{
    const counter_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[i];
}

template <typename T, typename PairOp>
__global__ void join(const T *a, const T *b, T *out, int n, PairOp op)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = op(a[i], b[i]);
}

template <typename K> __global__ void claim(K *slots, const K *keys, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicCAS(&slots[i], K(0), keys[i]);
}

template <typename T> struct shared_array {
    __device__ T *get()
    {
        extern __shared__ int words[];
        return reinterpret_cast<T *>(words);
    }
};

__global__ void reverse_rows(const float *x, float *out, int width)
{
    shared_array<float> memory;
    float *row = memory.get();
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        row[i] = x[blockIdx.x * width + i];
    __syncthreads();
#pragma unoll // a word that compilers do not know
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        out[blockIdx.x * width + i] = row[width - 1 - i];
}

// A block for each of three sizes, which loops over two more.
__global__ void scale_volume(const float *x, float *out, int depth, int height, int width, int channels, int taps)
{
    const int z = blockIdx.z, y = blockIdx.y, w = blockIdx.x;
    if (z >= depth || y >= height || w >= width)
        return;
    const long at = ((long)z * height + y) * width + w;
    for (int c = threadIdx.x; c < channels; c += blockDim.x) {
        for (int t = 0; t < taps; t++) {
            float sum = 0;
            for (int k = 0; k < 40; k++)
                sum += x[(at * channels + c) * taps + t] * k;
            out[(at * channels + c) * taps + t] = sum;
        }
    }
}

// Two places for each row, of which one is taken.
__global__ void put_rows(const float *x, float *out, const int *places, int rows, int places_n, int width)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * width)
        return;
    const int to = places[2 * (i / width) + 1];
    if (to >= 0 && to < places_n)
        out[to * width + i % width] += x[i];
}

// Written for one size.
__global__ void turn_tile(const float *x, float *out, int rows, int cols)
{
    if (rows != 64 || cols != 64)
        __trap();
    for (int i = threadIdx.x; i < rows * cols; i += blockDim.x)
        out[i % cols * rows + i / cols] = x[i];
}

// The same where the sizes hide a race: it has to be said.
__global__ void turn_tile_in_place(float *x, int rows, int cols)
{
    if (rows != 64 || cols != 64)
        __trap();
    for (int i = threadIdx.x; i < rows * cols; i += blockDim.x)
        x[i % cols * rows + i / cols] = x[i];
}

__global__ void first_squares(float *out)
{
    out[threadIdx.x] = threadIdx.x * threadIdx.x;
}

void launch_first_squares(float *out, cudaStream_t stream)
{
    first_squares<<<1, 64, 0, stream>>>(out);
}
