// Right: few long rows are cut into parts: the first kernel leaves each part's maximum and its sum in a workspace, the second merges a row's parts (each has at least one element, so all maxima are finite) and writes. Many rows: one part.
#include <cstdint>
__device__ float reduce(float v, bool largest)
{
    __shared__ float warps[8];
    for (int o = 16; o; o /= 2) {
        float w = __shfl_xor_sync(~0u, v, o);
        v = largest ? fmaxf(v, w) : v + w;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = v;
    __syncthreads();
    v = warps[0];
    for (int w = 1; w < 8; w++)
        v = largest ? fmaxf(v, warps[w]) : v + warps[w];
    return v;
}
__global__ __launch_bounds__(256) void parts_of_rows(float2 *states, const float *in, int d, int each)
{
    const float *row = in + (int64_t)blockIdx.x * d;
    int64_t begin = (int64_t)blockIdx.y * each, end = begin + each < d ? begin + each : d;
    float m = -INFINITY, s = 0.0f;
    for (int64_t i = begin + threadIdx.x; i < end; i += 256)
        m = fmaxf(m, row[i]);
    m = reduce(m, true);
    for (int64_t i = begin + threadIdx.x; i < end; i += 256)
        s += expf(row[i] - m);
    s = reduce(s, false);
    if (threadIdx.x == 0)
        states[(int64_t)blockIdx.x * gridDim.y + blockIdx.y] = make_float2(m, s);
}
__global__ __launch_bounds__(256) void quotients(float *out, const float *in, const float2 *states, int d, int each)
{
    const float2 *mine = states + (int64_t)blockIdx.x * gridDim.y;
    float m = -INFINITY, s = 0.0f;
    for (int p = 0; p < gridDim.y; p++)
        m = fmaxf(m, mine[p].x);
    for (int p = 0; p < gridDim.y; p++)
        s += mine[p].y * expf(mine[p].x - m);
    int64_t row = (int64_t)blockIdx.x * d, begin = (int64_t)blockIdx.y * each, end = begin + each < d ? begin + each : d;
    for (int64_t i = begin + threadIdx.x; i < end; i += 256)
        out[row + i] = expf(in[row + i] - m) / s;
}
extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    int wanted = rows >= 512 ? 1 : rows >= 64 ? 4 : 32;
    int each = (d - 1) / wanted + 1;
    if (each < 256)
        each = 256;
    int parts = (d - 1) / each + 1;
    float2 *states;
    if (cudaMallocAsync((void **)&states, (size_t)rows * parts * sizeof(float2), stream) != cudaSuccess)
        return;
    dim3 grid(rows, parts);
    parts_of_rows<<<grid, 256, 0, stream>>>(states, in, d, each);
    quotients<<<grid, 256, 0, stream>>>(out, in, states, d, each);
    cudaFreeAsync(states, stream);
}
