// Loops over a matrix of a thread's own, one within the other and up to the other's counter.
// transform: register-arrays 0
// applies: line 19
// has: #pragma unroll
// has: for (int c = 0; c < 8; c++)
// has: for (int k = 0; k < c; k++)
#include <cuda_runtime.h>

constexpr int SIDE = 8;

__global__ void work(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float *own = in + 64LL * i;
    float m[8][SIDE], sum = 0;

    for (int c = 0; c < 8; c++)
        for (int r = SIDE - 1; r >= c; r--) {
            float x = own[8 * r + c];
            for (int k = 0; k < c; k++)
                x -= m[r][k] * m[c][k];
            m[r][c] = x;
        }
    for (int k = 0; k < n % 8; k++)
        sum += m[k][k];
    out[i] = sum;
}

extern "C" void entry(float *out, const float *in, int n, cudaStream_t stream)
{
    work<<<(n + 127) / 128, 128, 0, stream>>>(out, in, n);
}
