// Vectors of another's making, through pointers of the row; the block's length is worked out by the launcher.
// transform: split-row 128
// applies: line 14
// has: const int row_blocks = (d / VEC + 127) / 128;
// has: dim3 grid(n, row_blocks < 65535 ? row_blocks : 65535);
#include <cstdint>

constexpr int VEC = 4;

__global__ void __launch_bounds__(1024) work(float *out, const float *in, int n, int d)
{
    const float4 *from = reinterpret_cast<const float4 *>(in + (int64_t)blockIdx.x * d);
    float4 *to = reinterpret_cast<float4 *>(out + (int64_t)blockIdx.x * d);
    for (int i = threadIdx.x; i < d / VEC; i += blockDim.x)
        to[i] = __ldg(from + i);
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    int threads = (d / VEC + 31) / 32 * 32;
    threads = threads < 1024 ? threads : 1024;
    work<<<n, threads, 0, stream>>>(out, in, n, d);
}
