// Bug: one thread per element, in place: a thread reads both numbers of a pair and writes one, while the thread of the
// other number does the same; whoever comes late reads what was already turned.
// Shows where the two threads are not in one warp (every half_dim >= 32), by the schedule; a race for every shape.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void __launch_bounds__(128)
    rotate_elements(__half *x, const float *__restrict__ cosine, const float *__restrict__ sine, int64_t total, int heads,
                    int half_dim)
{
    const int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= total)
        return;
    const int64_t head = e / (2 * (int64_t)half_dim);
    const int64_t within = e - head * 2 * half_dim;
    const bool lower = within < half_dim;
    const int64_t i = lower ? within : within - half_dim;
    const int64_t token = head / heads;
    const float own = __half2float(x[e]);
    const float partner = __half2float(x[lower ? e + half_dim : e - half_dim]);
    const float c = cosine[token * half_dim + i];
    const float s = sine[token * half_dim + i];
    x[e] = __float2half(lower ? own * c - partner * s : own * c + partner * s);
}

extern "C" void rotary_embedding(__half *x, const float *cosine, const float *sine, int tokens, int heads,
                                 int half_dim, cudaStream_t stream)
{
    const int64_t total = (int64_t)tokens * heads * 2 * half_dim;
    rotate_elements<<<(unsigned)((total + 127) / 128), 128, 0, stream>>>(x, cosine, sine, total, heads, half_dim);
}
