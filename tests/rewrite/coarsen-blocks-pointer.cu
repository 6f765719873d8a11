// The launcher chooses the instance by a pointer: each choice gets its copy.
// transform: coarsen-blocks 4
// applies: line 12
// has: const bool in_step = rows % 4 == 0 && rows >= 1056;
// has: void (*kernel)(float *, const float *) = in_step ? turn_by4<256> : turn<256>;
// has: kernel = in_step ? turn_by4<64> : turn<64>;
// has: kernel<<<in_step ? rows / 4 : rows, length, 0, stream>>>(out, in);
// has: part[k][threadIdx.x] = value[k];
#include <cuda_runtime.h>

template <int THREADS>
__global__ void turn(float *out, const float *in)
{
    __shared__ float part[THREADS];
    float value = in[blockIdx.x * THREADS + threadIdx.x];
    part[threadIdx.x] = value;
    __syncthreads();
    out[blockIdx.x * THREADS + threadIdx.x] = part[THREADS - 1 - threadIdx.x];
}

extern "C" void entry(float *out, const float *in, int rows, int length, cudaStream_t stream)
{
    void (*kernel)(float *, const float *) = turn<256>;
    if (length == 64)
        kernel = turn<64>;
    else if (length == 128)
        kernel = turn<128>;
    kernel<<<rows, length, 0, stream>>>(out, in);
}
