#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define cudaCheck(error) cuda_check(error, __FILE__, __LINE__)

inline void cuda_check(cudaError_t error, const char *file, int line)
{
    if (error != cudaSuccess) {
        printf("%s:%d: %s\n", file, line, cudaGetErrorString(error));
        exit(EXIT_FAILURE);
    }
}

template <class T> __host__ __device__ T ceil_div(T a, T b)
{
    return (a + b - 1) / b;
}
