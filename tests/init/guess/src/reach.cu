// Kernels that touch more, or ask for more, than their parameters tell.
#include <cuda_runtime.h>
#include <cstdint>
#include <limits>
#include <torch/extension.h>

constexpr float LOWEST = -std::numeric_limits<float>::infinity();

// A token's row holds keys of 16 numbers twice, then values: the sum of two products.
__global__ void mix_token(const float *mixed, float *state, float *out, const int *slots, int keys, int heads, int width)
{
    const int token = blockIdx.x, values = heads * width, row = 2 * keys * 16 + values;
    const int slot = slots[token];
    if (slot < 0)
        return;
    for (int i = threadIdx.x; i < values; i += blockDim.x) {
        const float x = mixed[token * row + 2 * keys * 16 + i] + mixed[token * row + i % (keys * 16)];
        state[slot * values * 16 + i] = 0.5f * state[slot * values * 16 + i] + x;
        out[token * values + i] = state[slot * values * 16 + i];
    }
}

// The stream comes as a number, as from another language.
void run_mix_token(const float *mixed, float *state, float *out, const int *slots, int tokens, int keys,
                                int heads, int width, int64_t stream)
{
    const cudaStream_t on = (cudaStream_t)stream;
    mix_token<<<tokens, 64, 0, on>>>(mixed, state, out, slots, keys, heads, width);
}

// Whole tiles are read, also where the last one is not full.
__global__ void sum_tiles(const float *x, float *sums, int tiles, int heads, int width)
{
    float sum = 0.0f;
    for (int i = 0; i < tiles; i++)
        sum += x[(blockIdx.x * heads + i % heads) * width + i * 128 + threadIdx.x];
    sums[blockIdx.x * 128 + threadIdx.x] = sum;
}

void run_sum_tiles(const float *x, float *sums, int rows, int tiles, int heads, int width, cudaStream_t stream)
{
    sum_tiles<<<rows, 128, 0, stream>>>(x, sums, tiles, heads, width);
}

// The last lane of a warp says its maximum: warps that are not full say none.
__global__ void row_maximum(const float *x, float *out, int width)
{
    __shared__ float part[32];
    const int i = threadIdx.x, warps = (blockDim.x + 31) / 32;
    float most = i < width ? x[blockIdx.x * width + i] : LOWEST;
    for (int step = 16; step; step /= 2)
        most = fmaxf(most, __shfl_xor_sync(__activemask(), most, step));
    if (i % 32 == 31)
        part[i / 32] = most;
    __syncthreads();
    if (i == 0) {
        for (int k = 0; k < warps; k++)
            most = fmaxf(most, part[k]);
        out[blockIdx.x] = most;
    }
}

void run_row_maximum(const float *x, float *out, int rows, int width, cudaStream_t stream)
{
    row_maximum<<<rows, width < 1024 ? width : 1024, 0, stream>>>(x, out, width);
}

// It writes only where something is wrong.
__global__ void note_infinite(int size, const float *x, float *finite)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size && !isfinite(x[i]))
        *finite = 0.0f;
}

// Four warps share the sums: more have no place for theirs, and nobody says so.
static __device__ void sum_of_warps(const float *x, float *out, int width)
{
    __shared__ float part[4][32];
    float sum = 0.0f;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < width; i += 128)
        sum += x[blockIdx.x * width + i];
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0)
        out[blockIdx.x * 32 + threadIdx.x] =
            part[0][threadIdx.x] + part[1][threadIdx.x] + part[2][threadIdx.x] + part[3][threadIdx.x];
}

extern "C" __global__ void sum_by_warps(const float *x, float *out, int width)
{
    sum_of_warps(x, out, width);
}

// Five views have twenty extents, of which the kernel asks for four.
typedef torch::PackedTensorAccessor32<float, 4, torch::RestrictPtrTraits> rows_4d;

__global__ void add_rows_4d(const rows_4d a, const rows_4d b, const rows_4d c, const rows_4d d, rows_4d out)
{
    const int n = blockIdx.x, h = blockIdx.y;
    if (n >= out.size(0) || h >= out.size(1))
        return;
    for (int l = 0; l < out.size(2); l++) {
        for (int e = threadIdx.x; e < out.size(3); e += blockDim.x)
            out[n][h][l][e] = a[n][h][l][e] + b[n][h][l][e] + c[n][h][l][e] * d[n][h][l][e];
    }
}

// Two structs of one kind have members of the same names.
struct table {
    const float *data;
    int pitch;
};

__global__ void add_tables(table a, table b, float *out, int rows, int width)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * width)
        out[i] = a.data[i / width * a.pitch + i % width] + b.data[i / width * b.pitch + i % width];
}

void run_add_tables(table a, table b, float *out, int rows, int width, cudaStream_t stream)
{
    add_tables<<<(rows * width + 255) / 256, 256, 0, stream>>>(a, b, out, rows, width);
}
