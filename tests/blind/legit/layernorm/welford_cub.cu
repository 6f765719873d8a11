// One fused kernel: mean and squares in one pass, by Welford's update and Chan's merge through cub::BlockReduce; threads without elements carry a count of 0, rows beyond 65536 take two passes instead.
#include <cstdint>
#include <cub/block/block_reduce.cuh>
#include <cuda_fp16.h>

constexpr int THREADS = 256;

struct Moments {
    float mean;
    float squares;
    float count;
};

struct Merge {
    __device__ Moments operator()(const Moments &a, const Moments &b) const
    {
        Moments r;
        r.count = a.count + b.count;
        if (b.count == 0.0f)
            return a;
        if (a.count == 0.0f)
            return b;
        const float delta = b.mean - a.mean, share = b.count / r.count;
        r.mean = a.mean + delta * share;
        r.squares = a.squares + b.squares + delta * delta * a.count * share;
        return r;
    }
};

__global__ void __launch_bounds__(THREADS) layernorm_welford(__half *out, const __half *in, const __half *weight,
                                                             const __half *bias, int d, float eps)
{
    using Reduce = cub::BlockReduce<Moments, THREADS>;
    __shared__ typename Reduce::TempStorage storage;
    __shared__ float mean_rstd[2];

    const int64_t row = (int64_t)blockIdx.x * d;
    Moments m = {0.0f, 0.0f, 0.0f};
    for (int i = threadIdx.x; i < d; i += THREADS) {
        const float v = __half2float(in[row + i]);
        m.count += 1.0f;
        const float delta = v - m.mean;
        m.mean += delta / m.count;
        m.squares += delta * (v - m.mean);
    }
    m = Reduce(storage).Reduce(m, Merge());
    if (threadIdx.x == 0) {
        mean_rstd[0] = m.mean;
        mean_rstd[1] = 1.0f / sqrtf(m.squares / d + eps);
    }
    __syncthreads();
    const float mean = mean_rstd[0], rstd = mean_rstd[1];

    if (d % 2 == 0) {
        const __half2 *x = reinterpret_cast<const __half2 *>(in + row);
        const __half2 *w = reinterpret_cast<const __half2 *>(weight);
        const __half2 *b = reinterpret_cast<const __half2 *>(bias);
        __half2 *y = reinterpret_cast<__half2 *>(out + row);
        for (int i = threadIdx.x; i < d / 2; i += THREADS) {
            const float2 v = __half22float2(x[i]), g = __half22float2(w[i]), c = __half22float2(b[i]);
            y[i] = __floats2half2_rn((v.x - mean) * rstd * g.x + c.x, (v.y - mean) * rstd * g.y + c.y);
        }
    } else {
        for (int i = threadIdx.x; i < d; i += THREADS)
            out[row + i] = __float2half((__half2float(in[row + i]) - mean) * rstd * __half2float(weight[i]) +
                                        __half2float(bias[i]));
    }
}

__global__ void __launch_bounds__(THREADS) layernorm_long(__half *out, const __half *in, const __half *weight,
                                                          const __half *bias, int d, float eps)
{
    using Reduce = cub::BlockReduce<float, THREADS>;
    __shared__ typename Reduce::TempStorage storage;
    __shared__ float all;

    const int64_t row = (int64_t)blockIdx.x * d;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += THREADS)
        sum += __half2float(in[row + i]);
    sum = Reduce(storage).Sum(sum);
    if (threadIdx.x == 0)
        all = sum / d;
    __syncthreads();
    const float mean = all;

    float squares = 0.0f;
    for (int i = threadIdx.x; i < d; i += THREADS) {
        const float v = __half2float(in[row + i]) - mean;
        squares += v * v;
    }
    squares = Reduce(storage).Sum(squares);
    __syncthreads(); // all have read the mean
    if (threadIdx.x == 0)
        all = 1.0f / sqrtf(squares / d + eps);
    __syncthreads();
    const float rstd = all;

    for (int i = threadIdx.x; i < d; i += THREADS)
        out[row + i] = __float2half((__half2float(in[row + i]) - mean) * rstd * __half2float(weight[i]) +
                                    __half2float(bias[i]));
}

extern "C" void layernorm(__half *out, const __half *in, const __half *weight, const __half *bias, int rows, int d,
                          float eps, cudaStream_t stream)
{
    if (d <= 65536)
        layernorm_welford<<<rows, THREADS, 0, stream>>>(out, in, weight, bias, d, eps);
    else
        layernorm_long<<<rows, THREADS, 0, stream>>>(out, in, weight, bias, d, eps);
}
