// The exact answer in double: one thread per element of v, a row of blocks per token.
#include <math_constants.h>

__global__ void merge_attn_states_kernel(const double *v_a, const double *s_a, const double *v_b,
                                         const double *s_b, double *v, double *s, int heads, int dim)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    long long row = (long long)heads * dim;
    if (i >= row)
        return;
    long long element = blockIdx.y * row + i;
    long long state = (long long)blockIdx.y * heads + i / dim;

    double a = s_a[state], b = s_b[state];
    double largest = a > b ? a : b;
    if (largest == -CUDART_INF) {
        v[element] = 0.0;
        s[state] = -CUDART_INF;
        return;
    }
    double weight_a = exp2(a - largest), weight_b = exp2(b - largest);
    v[element] = (v_a[element] * weight_a + v_b[element] * weight_b) / (weight_a + weight_b);
    if (i % dim == 0)
        s[state] = largest + log2(weight_a + weight_b);
}

extern "C" void merge_attn_states(const double *v_a, const double *s_a, const double *v_b, const double *s_b,
                                  double *v, double *s, int tokens, int heads, int dim, cudaStream_t stream)
{
    dim3 grid((unsigned)(((long long)heads * dim + 127) / 128), tokens);
    merge_attn_states_kernel<<<grid, 128, 0, stream>>>(v_a, s_a, v_b, s_b, v, s, heads, dim);
}
