// expect: unsafe words races with
// row 15: The first block of a row sets its result to 0 in the launch in which the other blocks already add to it.
#include <cstdint>

constexpr int CHUNK = 65536;

__global__ __launch_bounds__(256) void part_kernel(float *out, const float *__restrict__ in, int n, int parts)
{
    __shared__ float s[8];
    int row = blockIdx.x / parts, part = blockIdx.x % parts;
    if (part == 0 && threadIdx.x == 0)
        out[row] = 0.f;
    __syncthreads();
    const float *x = in + (size_t)row * n;
    int begin = part * CHUNK, end = min(n, begin + CHUNK);
    float sum = 0.f;
    for (int i = begin + threadIdx.x; i < end; i += 256)
        sum += x[i];
    for (int o = 16; o; o >>= 1)
        sum += __shfl_xor_sync(0xffffffffu, sum, o);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++)
            sum += s[w];
        atomicAdd(out + row, sum);
    }
}

extern "C" void long_sum(float *out, const float *in, int rows, int n, cudaStream_t stream)
{
    int parts = (n + CHUNK - 1) / CHUNK;
    part_kernel<<<rows * parts, 256, 0, stream>>>(out, in, n, parts);
}
