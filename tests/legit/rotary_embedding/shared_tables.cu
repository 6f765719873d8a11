// expect: correct
// Cosines and sines of a token in shared memory, for all its heads.
#include <cuda_fp16.h>
constexpr int CHUNK = 64;
__global__ void kernel(__half *x, const float *cosine, const float *sine, int heads, int half_dim)
{
    __shared__ union { float2 pair[CHUNK]; float flat[2 * CHUNK]; } t;
    const size_t token = blockIdx.x;
    for (int base = 0; base < half_dim; base += CHUNK) {
        const int n = min(CHUNK, half_dim - base);
        for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < n; i += blockDim.x * blockDim.y)
            t.pair[i] = make_float2(cosine[token * half_dim + base + i], sine[token * half_dim + base + i]);
        __syncthreads();
        for (int head = threadIdx.y; head < heads; head += blockDim.y)
            for (int i = threadIdx.x; i < n; i += blockDim.x) {
                __half *p = x + (token * heads + head) * 2 * half_dim + base + i;
                const float a = __half2float(p[0]), b = __half2float(p[half_dim]);
                p[0] = __float2half(a * t.flat[2 * i] - b * t.flat[2 * i + 1]);
                p[half_dim] = __float2half(b * t.pair[i].x + a * t.pair[i].y);
            }
        __syncthreads();
    }
}
extern "C" void rotary_embedding(__half *x, const float *cosine, const float *sine, int tokens, int heads, int half_dim,
                                 cudaStream_t stream)
{
    dim3 block(32, 8);
    kernel<<<tokens, block, 0, stream>>>(x, cosine, sine, heads, half_dim);
}
