// expect: correct
// The maximum as an ordered integer by redux.sync.
#include <cuda_runtime.h>
__device__ int ordered(float f)
{
    int b = __float_as_int(f);
    return b >= 0 ? b : b ^ 0x7fffffff;
}
__device__ float unordered(int b) { return __int_as_float(b >= 0 ? b : b ^ 0x7fffffff); }
__global__ void kernel(float *out, const float *in, int rows, int d)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    const float *x = in + (long long)row * d;
    int m = ordered(x[lane < d ? lane : 0]);
    for (int i = lane; i < d; i += 32)
        m = max(m, ordered(x[i]));
    m = __reduce_max_sync(__activemask(), m);
    float big = unordered(m), s = 0;
    for (int i = lane; i < d; i += 32)
        s += __expf(x[i] - big);
    for (int o = 1; o < 32; o *= 2)
        s += __shfl_xor_sync(0xffffffff, s, o);
    for (int i = lane; i < d; i += 32)
        out[(long long)row * d + i] = __fdividef(__expf(x[i] - big), s);
}
extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<(rows + 7) / 8, 256, 0, stream>>>(out, in, rows, d);
}
