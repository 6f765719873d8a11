/* A GELU and its timing. */
#include "common.h"

#define GELU_SCALE 0.7978845608f

__global__ void gelu_kernel(float *out, const float *inp, int N)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        float x = inp[i];
        out[i] = 0.5f * x * (1.0f + tanhf(GELU_SCALE * (x + 0.044715f * x * x * x)));
    }
}

void gelu_forward(float *out, const float *inp, int N)
{
    const int block_size = 256;
    const int grid_size = ceil_div(N, block_size);
    gelu_kernel<<<grid_size, block_size>>>(out, inp, N);
    cudaCheck(cudaGetLastError());
}

int main(int argc, char **argv)
{
    float *out, *inp;
    cudaCheck(cudaMalloc(&out, 1024 * sizeof(float)));
    cudaCheck(cudaMalloc(&inp, 1024 * sizeof(float)));
    gelu_forward(out, inp, 1024);
    return 0;
}
