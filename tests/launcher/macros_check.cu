// The error-checking macro around runtime calls that every CUDA program has.
#include <cstdio>
#include <cstdlib>

#define CUDA_CHECK(call)                                                                                 \
    do {                                                                                                 \
        cudaError_t status = (call);                                                                     \
        if (status != cudaSuccess) {                                                                     \
            fprintf(stderr, "%s:%d: %s\n", "file", __LINE__, cudaGetErrorString(status));                \
            exit(1);                                                                                     \
        }                                                                                                \
    } while (0)

__global__ void k(float *p)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    CUDA_CHECK(cudaMemsetAsync(p, 0, n * sizeof(float), stream));
    k<<<1, 1, 0, stream>>>(p);
    CUDA_CHECK(cudaGetLastError());
}

// run: n=10
// memset p 0 40
// launch k (1,1,1) (1,1,1) 0 [p]
