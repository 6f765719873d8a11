// Launches within functions that cannot be read or run, and sizes that go together.
#include <cassert>
#include <cuComplex.h>
#include <cuda_fp16.h>
#include <limits>

int current_card(); // in a library

struct Work {
    cudaStream_t on() const;
    int parts() const;
};

// The function around it calls what nobody defines; the stream has a name of its own.
__global__ void negate_each(float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = -x[i];
}

void run_negate_each(float *x, int n, const Work *work)
{
    const int card = current_card();
    auto on = work->on();
    const int threads = 128;
    if (card >= 0)
        negate_each<<<(n + threads - 1) / threads, threads, 0, on>>>(x, n);
}

// The types of a lambda's template are those of the kernel's parameters.
template <typename scalar, int PARTS> __global__ void add_parts(const scalar *x, scalar *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < PARTS; k++)
        sum += float(x[i * PARTS + k]);
    y[i] = scalar(sum);
}

template <typename Fn> void for_type(int type, Fn fn);

void run_add_parts(void *x, void *y, int n, int type, const Work *work)
{
    for_type(type, [&]<typename real_t>() {
        constexpr int WIDE = 4;
        add_parts<real_t, WIDE><<<iDivUp(n, 256), 256, 0, work->on()>>>((const real_t *)x, (real_t *)y, n);
    });
}

// A vector of integers is sizes.
__global__ void fill_board(float *board, int2 extent, float with)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < extent.x && y < extent.y)
        board[y * extent.x + x] = with;
}

// Complex numbers of the toolkit.
__global__ void conjugate_each(cuDoubleComplex *z, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = cuConj(z[i]);
}

// Rows lie a number of bytes apart: as many as they have, at least.
__global__ void turn_image(const float *in, float *out, int rows, int cols, int pitch_in, int pitch_out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < cols && y < rows)
        *(float *)((char *)out + pitch_out * x + y * sizeof(float)) =
            *(const float *)((const char *)in + pitch_in * y + x * sizeof(float));
}

void run_turn_image(const float *in, float *out, int rows, int cols, int pitch_in, int pitch_out, cudaStream_t stream)
{
    const dim3 block(32, 8), grid((cols + 31) / 32, (rows + 7) / 8);
    turn_image<<<grid, block, 0, stream>>>(in, out, rows, cols, pitch_in, pitch_out);
}

// Other names of a struct, also of an instance of a template.
template <typename T, int N> struct list_of {
    T *at;
    int length;
};
template <typename T> using short_list = list_of<T, 4>;
using places = list_of<int, 8>;

template <typename T> __global__ void double_list(short_list<T> list)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < list.length)
        list.at[i] *= 2;
}

__global__ void next_places(places p)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < p.length)
        p.at[i] += 1;
}

// An assertion says how many threads there are.
template <int WIDTH = 96> __global__ void reverse_lines(float *x)
{
    __shared__ float line[WIDTH];
    assert(blockDim.x == WIDTH);
    line[threadIdx.x] = x[blockIdx.x * WIDTH + threadIdx.x];
    __syncthreads();
    x[blockIdx.x * WIDTH + threadIdx.x] = line[WIDTH - 1 - threadIdx.x];
}

// 16-bit numbers have limits.
__global__ void clip_each(__half *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && !(float(x[i]) > float(std::numeric_limits<__half>::lowest())))
        x[i] = std::numeric_limits<__half>::max();
}

// Floating numbers say where something is read: what other numbers than usual ones reach is found as well.
__global__ void look_up(const float *where, const float *table, float *y, int n, int limit)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int at = (int)where[i];
    y[i] = at >= 0 && at < 64 * limit ? table[at] : 0.0f;
}

// Nobody needs to know what the pointer leads to.
class hidden_state;
__global__ void count_each(int *counts, hidden_state *state, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && state)
        counts[i] += 1;
}
