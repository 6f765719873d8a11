#include <cstdint>
#include <type_traits>

// Where each segment begins; the numbers of segments rise.
__global__ void begin_segments(int *begin, const int *ids, int n, int segments)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int before = i > 0 ? ids[i - 1] : -1, mine = ids[i];
    for (int s = before + 1; s <= mine; s++)
        begin[s] = i;
}

void begin_all(int *begin, const int *ids, int n, int segments, cudaStream_t stream)
{
    begin_segments<<<(n + 255) / 256, 256, 0, stream>>>(begin, ids, n, segments);
}

// A parameter whose type alone says something.
template <bool Twice>
__global__ void scale_tagged(float *x, int n, std::bool_constant<Twice>)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= Twice ? 4.0f : 2.0f;
}

template <bool Twice>
void scale_by_tag(float *x, int n, std::bool_constant<Twice> twice, cudaStream_t stream)
{
    scale_tagged<<<(n + 255) / 256, 256, 0, stream>>>(x, n, twice);
}

// A class that the host makes of something else, with members that are const.
struct Pool {
    float *values;
    int count;
};

struct PoolView {
    PoolView(Pool &pool) : values(pool.values), count{pool.count}, pitch{1, 1}
    {
    }
    float *__restrict__ values;
    const int count;
    const int pitch[2];
};

__global__ void double_pool(const PoolView pool)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pool.count)
        pool.values[i * pool.pitch[1]] *= 2;
}

// Functions as a template's arguments, written by a macro of the function that launches.
__device__ float square(float x)
{
    return x * x;
}

template <int Width, float (*Change)(float)>
__global__ void change_all(float *x, int n)
{
    int i = blockIdx.x * Width + threadIdx.x;
    if (i < n)
        x[i] = Change(x[i]);
}

void change(float *x, int n, int width, cudaStream_t stream)
{
#define OF_WIDTH(WIDTH)                                                                \
    case WIDTH:                                                                        \
        change_all<WIDTH, square><<<(n + WIDTH - 1) / WIDTH, WIDTH, 0, stream>>>(x, n); \
        break;
    switch (width) {
        OF_WIDTH(64)
        OF_WIDTH(128)
    }
#undef OF_WIDTH
}

// An assertion that the build defines.
__global__ void halve_inside(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    ASSURE_INSIDE(n > 0, "there is something");
    if (i < n)
        x[i] /= 2;
}

// As many threads as shared memory has places for.
__global__ void sum_of_64(float *out, const float *x)
{
    __shared__ float sums[64];
    sums[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < 64; i++)
            sum += sums[i];
        out[blockIdx.x] = sum;
    }
}

// The place is taken apart by strides.
__global__ void copy_strided(float *out, const float *x, const int *out_strides, const int *x_strides, int n, int ndims)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, rest = i, from = 0;
    if (i >= n)
        return;
    for (int d = 0; d < ndims; d++) {
        from += rest / out_strides[d] * x_strides[d];
        rest %= out_strides[d];
    }
    out[i] = x[from];
}

// 32 places for each row.
__global__ void number_places(int *out)
{
    const int row = blockIdx.y;
    out[(row << 5) + threadIdx.x] = row;
}
