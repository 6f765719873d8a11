// Wrong: online softmax; threads without an element merge (-inf, 0) with (-inf, 0): exp(-inf + inf) is NaN wherever d is below the block.
#include <cstdint>
__global__ void softmax_kernel(float *out, const float *in, int d)
{
    __shared__ float ms[256], ss[256];
    int t = threadIdx.x;
    int64_t row = (int64_t)blockIdx.x * d;
    float m = -INFINITY, s = 0.0f;
    for (int i = t; i < d; i += 256) {
        float v = in[row + i], n = fmaxf(m, v);
        s = s * __expf(m - n) + __expf(v - n);
        m = n;
    }
    ms[t] = m;
    ss[t] = s;
    __syncthreads();
    for (int step = 128; step; step /= 2) {
        if (t < step) {
            float n = fmaxf(ms[t], ms[t + step]);
            ss[t] = ss[t] * __expf(ms[t] - n) + ss[t + step] * __expf(ms[t + step] - n);
            ms[t] = n;
        }
        __syncthreads();
    }
    m = ms[0];
    s = 1.0f / ss[0];
    for (int i = t; i < d; i += 256)
        out[row + i] = __expf(in[row + i] - m) * s;
}
extern "C" void softmax(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    softmax_kernel<<<rows, 256, 0, stream>>>(out, in, d);
}
