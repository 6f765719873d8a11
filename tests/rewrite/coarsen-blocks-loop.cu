// A loop that a row's own length ends is each row's own; a loop of all rows is walked once.
// transform: coarsen-blocks 2
// applies: line 13
// has: float most[2];
// has: for (int i = threadIdx.x; i < most_length; i += blockDim.x) {
// has: for (int i = threadIdx.x; i < length[k]; i += blockDim.x)
// has: part[k][threadIdx.x] = most[k];
// has: #pragma unroll 4
// has: work_by2<float><<<dim3(rows / 2, heads), 128, 0, stream>>>
#include <cuda_runtime.h>

template <typename T>
__global__ void work(T *out, const T *in, const int *lengths, int most_length)
{
    __shared__ float part[128];
    const T *row = in + (blockIdx.y * (size_t)7 + blockIdx.x) * most_length;
    int length = lengths[blockIdx.x];
    float most = -1e30f, sum = 0.0f;
#pragma unroll 4
    for (int i = threadIdx.x; i < length; i += blockDim.x)
        most = fmaxf(most, row[i]);
    part[threadIdx.x] = most;
    __syncthreads();
    for (int i = threadIdx.x; i < most_length; i += blockDim.x) {
        if (i >= 1000)
            break;
        sum += row[i] * part[127 - threadIdx.x];
    }
    atomicAdd(&out[blockIdx.x], sum);
}

extern "C" void entry(float *out, const float *in, const int *lengths, int rows, int heads, int length,
                      cudaStream_t stream)
{
    work<float><<<dim3(rows, heads), 128, 0, stream>>>(out, in, lengths, length);
}
