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

// The compiler's own words, as a copy of its headers has them, and a switch of the build.
#define __device__ __location__(device)
#if WITH_WIDE
__global__ void widen_all(const float *x, double *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}
#endif

// A class that comes from a template, whose constructors no launcher can call.
template <typename T> struct first_of {
    T *at;
    __host__ __device__ first_of() : at(nullptr) {}
    __host__ __device__ first_of(T *p) : at(p) {}
};
template <typename T> struct counted : public first_of<T> {
    unsigned long count;
    __host__ __device__ counted() : count(0) {}
    __host__ __device__ counted(T *p, unsigned long n) : first_of<T>(p), count(n) {}
};

__global__ void halve_counted(counted<float> list)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < list.count)
        list.at[i] *= 0.5f;
}

// A view whose rows are views of a specialisation.
template <typename T, int N> struct rows_of {
    T *data;
    int sizes[N];
    __host__ __device__ rows_of(T *p, const int *n) : data(p)
    {
        for (int i = 0; i < N; i++)
            sizes[i] = n ? n[i] : 0;
    }
};
template <typename T> struct rows_of<T, 1> {
    T *data;
    int sizes[1];
    __host__ __device__ rows_of(T *p, const int *n) : data(p) { sizes[0] = n ? n[0] : 0; }
};

__global__ void add_row(rows_of<float, 2> board, rows_of<float, 1> row)
{
    for (int i = threadIdx.x; i < board.sizes[1]; i += blockDim.x)
        board.data[blockIdx.x * board.sizes[1] + i] += row.data[i];
}

// Of classes that are called the one that takes as many arguments.
template <typename T> struct larger_of {
    __device__ T operator()(const T &a, const T &b) const { return a > b ? a : b; }
};
template <typename T> struct twice_of {
    __device__ T operator()(const T &a) const { return a + a; }
};
template <class One, class Two, typename T> __global__ void join_halves(One one, Two two, const T *x, T *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = two(one(x[i]), one(x[n + i]));
}
