// expect: launch-failed
// row 16: The row stays in shared memory where the device's opt-in limit (232,448 bytes) holds it; the 64 bytes of static shared memory beside it are forgotten: d from 58,097 to 58,112 does not launch (the attribute is refused, or the launch is), and nothing is written. rows = 1, d = 58112.
#include <cstdint>
#include <math_constants.h>

__device__ float reduce(float x, bool largest)
{
    __shared__ float part[16];
    for (int s = 16; s; s /= 2) {
        float y = __shfl_xor_sync(~0u, x, s);
        x = largest ? fmaxf(x, y) : x + y;
    }
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = x;
    __syncthreads();
    x = part[0];
    for (int i = 1; i < 16; i++)
        x = largest ? fmaxf(x, part[i]) : x + part[i];
    __syncthreads();
    return x;
}

template <bool KEPT> __global__ void softmax_kernel(float *out, const float *in, int d)
{
    extern __shared__ float kept[];
    const float *x = in + (int64_t)blockIdx.x * d;
    float *y = out + (int64_t)blockIdx.x * d;
    float largest = -CUDART_INF_F, sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += 512) {
        float v = x[i];
        if (KEPT)
            kept[i] = v;
        largest = fmaxf(largest, v);
    }
    largest = reduce(largest, true);
    for (int i = threadIdx.x; i < d; i += 512) {
        float e = expf((KEPT ? kept[i] : x[i]) - largest);
        if (KEPT)
            kept[i] = e;
        sum += e;
    }
    sum = reduce(sum, false);
    for (int i = threadIdx.x; i < d; i += 512)
        y[i] = (KEPT ? kept[i] : expf(x[i] - largest)) / sum;
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    int limit = 0;
    cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    if ((int64_t)d * 4 <= limit) {
        cudaFuncSetAttribute(softmax_kernel<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, d * 4);
        softmax_kernel<true><<<rows, 512, d * 4, stream>>>(out, in, d);
    } else
        softmax_kernel<false><<<rows, 512, 0, stream>>>(out, in, d);
}
