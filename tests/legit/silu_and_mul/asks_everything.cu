// expect: correct
// As many blocks as the device holds, larger ones where the L2 is large, and none on a device that is too small.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void kernel(__half *out, const __half *in, int rows, int d)
{
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const __half *x = in + (int64_t)row * 2 * d;
        for (int i = threadIdx.x; i < d; i += blockDim.x) {
            float v = __half2float(x[i]);
            out[(int64_t)row * d + i] = __float2half(v / (1.0f + expf(-v)) * __half2float(x[d + i]));
        }
    }
}

extern "C" int silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    int device = 0, devices = 0, sms = 0, blocks = 0, l2 = 0;
    cudaGetDevice(&device);
    cudaGetDeviceCount(&devices);
    if (device >= devices)
        return 1;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device);
    if (sms < 40)
        return 1;
    int threads = l2 > (48 << 20) ? 256 : 128;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0);
    int most = sms * blocks;
    kernel<<<rows < most ? rows : most, threads, 0, stream>>>(out, in, rows, d);
    return 0;
}
