// A flag and a number decide what an instance does; the type stays a parameter.
// transform: instances 0
// applies: line 15
// has: rotate_1_4<__half><<<rows, 128, 0, stream>>>(x, d);
// has: rotate_0_4<__half><<<rows, 128, 0, stream>>>(x, d);
// has: template <typename T>
// has: __global__ void rotate_1_4(T *x, int d)
// has: if (true)
// has: pair<T, false>(x, k, d);
// has: k < 4
#include <cuda_fp16.h>
#include <cuda_runtime.h>
template <typename T, bool BESIDE> __device__ void pair(T *x, int i, int d) { x[BESIDE ? i + 1 : i + d] = x[i]; }
template <typename T, bool BESIDE, int STEPS>
__global__ void rotate(T *x, int d)
{
    if (BESIDE)
        x += blockIdx.x * d;
    for (int k = 0; k < STEPS; k++)
        if (threadIdx.x == 0)
            pair<T, BESIDE>(x, k, d);
}

extern "C" void entry(__half *x, int rows, int d, bool beside, cudaStream_t stream)
{
    if (beside)
        rotate<__half, true, 4><<<rows, 128, 0, stream>>>(x, d);
    else
        rotate<__half, false, 4><<<rows, 128, 0, stream>>>(x, d);
}
