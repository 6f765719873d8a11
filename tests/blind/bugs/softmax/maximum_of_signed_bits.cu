// expect: wrong
// row 1: The maximum by redux on the floats' bits as signed integers, which turns the order of negative numbers round. A row with a positive number is right; in one of negative numbers alone the least is taken, which moves nothing as long as the row spans less than 88: in = (-1, -101), rows = 1, d = 2 gives exp(100) = inf, inf / inf = NaN and 0, where it is 1 and 0.
#include <cstdint>
#include <climits>

__global__ void softmax_kernel(float *out, const float *in, int d)
{
    __shared__ int tops[8];
    __shared__ float sums[8];
    const float *x = in + (int64_t)blockIdx.x * d;
    float *y = out + (int64_t)blockIdx.x * d;
    int top = INT_MIN, warp = threadIdx.x / 32;
    for (int i = threadIdx.x; i < d; i += 256)
        top = max(top, __float_as_int(x[i]));
    top = __reduce_max_sync(~0u, top);
    if (threadIdx.x % 32 == 0)
        tops[warp] = top;
    __syncthreads();
    for (int i = 0; i < 8; i++)
        top = max(top, tops[i]);
    float largest = __int_as_float(top), sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += 256)
        sum += expf(x[i] - largest);
    for (int s = 16; s; s /= 2)
        sum += __shfl_xor_sync(~0u, sum, s);
    if (threadIdx.x % 32 == 0)
        sums[warp] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int i = 0; i < 8; i++)
        sum += sums[i];
    for (int i = threadIdx.x; i < d; i += 256)
        y[i] = expf(x[i] - largest) / sum;
}

extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    softmax_kernel<<<rows, 256, 0, stream>>>(out, in, d);
}
