// What kernels are given by value: views, structs with structs in them, squares of numbers; and what they take for
// granted of their launch and their templates.
#include <type_traits>
#include <vector>

#include "view.cuh"

namespace held {

__global__ void raise_view(View<float, 2> x, float by)
{
    for (int c = threadIdx.x; c < x.size(1); c += blockDim.x)
        x(blockIdx.x, c) += by;
}

__global__ void copy_board(Board board, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < board.extent.rows * board.extent.columns)
        out[i] = board.cells[i];
}

__global__ void double_square(Square<float> s)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < s.side)
        s(i) = s(i) + s(i);
}

// a pointer for each row
__global__ void gather_rows(const float *const *rows, float *out, int n, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * width)
        out[i] = rows[i / width][i % width];
}

// of which there is a body for one type alone
template <typename T> __device__ T widened(T x);

template <> __device__ __half widened<__half>(__half x)
{
    return x;
}

template <int kAdd, typename T> __global__ void widen_each(const T *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = widened(x[i]);
}

// told apart by a parameter that has no name
template <bool kNegate, typename T, std::enable_if_t<kNegate, int> = 0> __global__ void turn_sign(const T *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = -x[i];
}

void launch_turn_sign(const float *x, float *y, int n, cudaStream_t stream)
{
    turn_sign<true, float><<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}

extern __shared__ float parts[];

__global__ void sum_halves(const float *x, float *sums, int n)
{
    int row = blockIdx.x;
    parts[threadIdx.x] = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        parts[threadIdx.x] += x[row * n + i];
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int i = 0; i < blockDim.x; ++i)
            sum += parts[i];
        sums[row] = sum;
    }
}

template <typename A, typename B> struct LastEnding {
    static __device__ B of(A a)
    {
        return B(a) + B(1);
    }
};

template <typename A, typename B> struct PlainEnding : LastEnding<A, B> {};

template <typename A, typename B, template <typename, typename> class Ending> struct Ended {
    static __device__ B of(A a)
    {
        return PlainEnding<A, B>::of(a);
    }
};

template <typename A, template <typename, typename> class Ending> __global__ void end_each(const A *x, A *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = Ended<A, A, Ending>::of(x[i]);
}

// a block of as many threads as a step says is larger than one may be
constexpr int kThreads = 512, kEach = 4;

__global__ void __launch_bounds__(kThreads) shift_fours(const float *x, float *y, int n)
{
    int i = (blockIdx.x * kThreads + threadIdx.x) * kEach;
    for (int k = 0; k < kEach; ++k)
        if (i + k < n)
            y[i + k] = x[i + k] + 1.0f;
}

// which type the pointer is of nobody says
typedef short3 place_type;

__global__ void first_places(const place_type *places, short *first, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        first[i] = places[i].x;
}

} // namespace held
