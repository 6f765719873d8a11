#include <cuda_runtime.h>
#include <helper_cuda.h>

__global__ void vectorScale(const float *A, float *C, int numElements)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;

    if (i < numElements) {
        C[i] = A[i] * 2.0f;
    }
}

int main(void)
{
    int numElements = 50000;
    size_t size = numElements * sizeof(float);
    float *d_A = NULL, *d_C = NULL;

    checkCudaErrors(cudaMalloc((void **)&d_A, size));
    checkCudaErrors(cudaMalloc((void **)&d_C, size));
    int threadsPerBlock = 256;
    int blocksPerGrid = (numElements + threadsPerBlock - 1) / threadsPerBlock;
    vectorScale<<<blocksPerGrid, threadsPerBlock>>>(d_A, d_C, numElements);
    return 0;
}
