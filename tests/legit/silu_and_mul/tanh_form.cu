// expect: correct
// silu(x) = x/2 (1 + tanh(x/2)), with the exact tanhf.
#include <cuda_fp16.h>
#include <cmath>
__global__ void kernel(__half *out, const __half *in, int rows, int d, long total)
{
    for (long k = blockIdx.x * (long)blockDim.x + threadIdx.x; k < total; k += (long)gridDim.x * blockDim.x) {
        long r = k / d, c = k % d;
        double x = __half2float(in[r * 2 * d + c]);
        double e = std::exp(-std::fabs(x));
        double s = x >= 0 ? 1.0 / (1.0 + e) : e / (1.0 + e);
        out[k] = __float2half(static_cast<float>(x * s * static_cast<double>(__half2float(in[r * 2 * d + d + c]))));
    }
}
extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    const long total = (long)rows * d;
    long blocks = (total + 127) / 128;
    if (blocks > 65535) blocks = 65535;
    kernel<<<(unsigned)blocks, 128, 0, stream>>>(out, in, rows, d, total);
}
