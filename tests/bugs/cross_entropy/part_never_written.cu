// expect: unsafe
// row 16: Where vocab is a multiple of 8192 the second kernel reads a part more of each row than the first one wrote: uninitialised workspace in the maximum and the sum.
#include <cstdint>
#include <cuda_bf16.h>
#include <math_constants.h>

constexpr int PART = 8192, THREADS = 256;

__global__ void __launch_bounds__(THREADS) parts_kernel(float2 *parts, const __nv_bfloat16 *logits, int vocab, int count)
{
    __shared__ float shared[THREADS];
    const __nv_bfloat16 *x = logits + (int64_t)blockIdx.y * vocab;
    int from = blockIdx.x * PART, to = min(vocab, from + PART);
    float most = -CUDART_INF_F, sum = 0;
    for (int i = from + threadIdx.x; i < to; i += THREADS)
        most = fmaxf(most, __bfloat162float(x[i]));
    shared[threadIdx.x] = most;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (threadIdx.x < s)
            shared[threadIdx.x] = fmaxf(shared[threadIdx.x], shared[threadIdx.x + s]);
        __syncthreads();
    }
    most = shared[0];
    __syncthreads();
    for (int i = from + threadIdx.x; i < to; i += THREADS)
        sum += expf(__bfloat162float(x[i]) - most);
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (threadIdx.x < s)
            shared[threadIdx.x] += shared[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        parts[(int64_t)blockIdx.y * count + blockIdx.x] = make_float2(most, shared[0]);
}

__global__ void loss_kernel(float *loss, const float2 *parts, const __nv_bfloat16 *logits, const int64_t *target,
                            int rows, int vocab, int count)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const float2 *own = parts + (int64_t)row * count;
    float most = -CUDART_INF_F, sum = 0;
    for (int i = 0; i < count; i++)
        most = fmaxf(most, own[i].x);
    for (int i = 0; i < count; i++)
        sum += own[i].y * expf(own[i].x - most);
    int64_t t = target[row];
    loss[row] = t < 0 ? 0.0f : logf(sum) + most - __bfloat162float(logits[(int64_t)row * vocab + t]);
}

extern "C" void cross_entropy(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int rows, int vocab,
                              cudaStream_t stream)
{
    int count = vocab / PART + 1;
    float2 *parts;
    if (cudaMallocAsync((void **)&parts, (size_t)rows * count * sizeof(float2), stream) != cudaSuccess)
        return;
    parts_kernel<<<dim3((vocab + PART - 1) / PART, rows), THREADS, 0, stream>>>(parts, logits, vocab, count);
    loss_kernel<<<(rows + 127) / 128, 128, 0, stream>>>(loss, parts, logits, target, rows, vocab, count);
    cudaFreeAsync(parts, stream);
}
