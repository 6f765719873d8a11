// An index that grows by statements beside its declaration, and a parameter that shrinks.
// transform: first-values 0
// applies: line 10
// has: int n_2 = n / (4);
// has: unsigned i_2 = i * (2 + 2);
// has: unsigned i_3 = i_2 + blockIdx.y * n_2;
// has: if (i_2 >= n_2)
// has: out[i_3] = in[i_3];
#include <cuda_runtime.h>
__global__ void work(float *out, const float *in, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    n /= 4;
    i *= 2 + 2;
    if (i >= n)
        return;
    i = i + blockIdx.y * n;
    out[i] = in[i];
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    work<<<dim3((n + 255) / 256, 4), 256, 0, stream>>>(out, in, n);
}
