#include <cuda_runtime.h>
// Roots of small matrices by Cholesky, of which the lower half is given and 4 is added to the diagonal; a thread a matrix.
__global__ void root(float *l, const float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float *own = a + 64ll * i;
    float *to = l + 64ll * i;
    float m[8][8];
    for (int c = 0; c < 8; c++)
        for (int r = 0; r < 8; r++) {
            if (r < c) {
                to[8 * r + c] = 0.0f;
                continue;
            }
            float sum = own[8 * r + c] + (r == c ? 4.0f : 0.0f);
            for (int k = 0; k < c; k++)
                sum -= m[r][k] * m[c][k];
            m[r][c] = r == c ? sqrtf(sum) : sum / m[c][c];
            to[8 * r + c] = m[r][c];
        }
}
extern "C" void cholesky8(float *l, const float *a, int n, cudaStream_t stream)
{
    root<<<(n + 127) / 128, 128, 0, stream>>>(l, a, n);
}
