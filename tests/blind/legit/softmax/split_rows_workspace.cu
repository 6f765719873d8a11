// Few long rows are split over the grid: (max, sum) of every piece to a workspace, a second kernel merges a row's pieces and writes; many or short rows take one warp each. No piece is empty.
#include <cstdint>
#include <math_constants.h>

constexpr int THREADS = 256;
constexpr int PIECE = 4096; // at least so many elements a piece

struct Max {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Plus {
    __device__ float operator()(float a, float b) const { return a + b; }
};

template <class Op> __device__ __forceinline__ float all_warp(float v, Op op)
{
    for (int mask = 16; mask > 0; mask >>= 1)
        v = op(v, __shfl_xor_sync(0xffffffffu, v, mask));
    return v;
}

template <class Op> __device__ __forceinline__ float all_block(float v, float neutral, float *shared, Op op)
{
    v = all_warp(v, op);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x % 32 < THREADS / 32 ? shared[threadIdx.x % 32] : neutral;
    return all_warp(v, op);
}

__global__ void piece_kernel(float2 *pieces, const float *in, int d, int length)
{
    __shared__ float shared[THREADS / 32];
    const float *row = in + (int64_t)blockIdx.y * d;
    const int64_t low = (int64_t)blockIdx.x * length;
    const int count = (int)min((int64_t)length, d - low);

    float most = -CUDART_INF_F;
    for (int i = threadIdx.x; i < count; i += THREADS)
        most = fmaxf(most, row[low + i]);
    most = all_block(most, -CUDART_INF_F, shared, Max());
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += THREADS)
        sum += expf(row[low + i] - most);
    sum = all_block(sum, 0.0f, shared, Plus());
    if (threadIdx.x == 0)
        pieces[(int64_t)blockIdx.y * gridDim.x + blockIdx.x] = make_float2(most, sum);
}

__global__ void write_kernel(float *out, const float *in, const float2 *pieces, int d, int length)
{
    __shared__ float shared[THREADS / 32];
    const float2 *mine = pieces + (int64_t)blockIdx.y * gridDim.x;
    float most = -CUDART_INF_F;
    for (int p = threadIdx.x; p < gridDim.x; p += THREADS)
        most = fmaxf(most, mine[p].x);
    most = all_block(most, -CUDART_INF_F, shared, Max());
    float sum = 0.0f;
    for (int p = threadIdx.x; p < gridDim.x; p += THREADS)
        sum += mine[p].y * expf(mine[p].x - most);
    sum = all_block(sum, 0.0f, shared, Plus());

    const int64_t low = (int64_t)blockIdx.x * length, row = (int64_t)blockIdx.y * d;
    const int count = (int)min((int64_t)length, d - low);
    for (int i = threadIdx.x; i < count; i += THREADS)
        out[row + low + i] = expf(in[row + low + i] - most) / sum;
}

__global__ void __launch_bounds__(128) warp_kernel(float *out, const float *in, int rows, int d)
{
    const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    const float *x = in + (int64_t)row * d;
    float *y = out + (int64_t)row * d;
    float most = -CUDART_INF_F, sum = 0.0f;
    for (int i = lane; i < d; i += 32)
        most = fmaxf(most, x[i]);
    most = all_warp(most, Max());
    for (int i = lane; i < d; i += 32)
        sum += expf(x[i] - most);
    sum = all_warp(sum, Plus());
    for (int i = lane; i < d; i += 32)
        y[i] = expf(x[i] - most) / sum;
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    if (d <= 1024) {
        warp_kernel<<<(rows + 3) / 4, 128, 0, stream>>>(out, in, rows, d);
        return;
    }
    int pieces = rows < 1056 ? 1056 / rows : 1;
    const int most = (int)(((int64_t)d + PIECE - 1) / PIECE);
    if (pieces > most)
        pieces = most;
    const int length = (int)(((int64_t)d + pieces - 1) / pieces);
    pieces = (int)(((int64_t)d + length - 1) / length); // none is empty

    void *workspace = nullptr;
    cudaError_t error = cudaMallocAsync(&workspace, (size_t)rows * pieces * sizeof(float2), stream);
    if (error != cudaSuccess)
        return;
    float2 *parts = static_cast<float2 *>(workspace);
    const dim3 grid(pieces, rows);
    piece_kernel<<<grid, THREADS, 0, stream>>>(parts, in, d, length);
    write_kernel<<<grid, THREADS, 0, stream>>>(out, in, parts, d, length);
    cudaFreeAsync(workspace, stream);
}
