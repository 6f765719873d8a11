// Dynamic shared memory is cut among the blocks; the question for the last row goes to the launcher.
// transform: coarsen-blocks 2
// applies: line 14
// has: unsigned int block_bytes)
// has: values_of[k] = reinterpret_cast<float *>(reinterpret_cast<char *>(values) + k * block_bytes);
// has: values_of[k][i] = in[row[k] * length + i];
// has: out[row[k] * length + i] = values_of[k][length - 1 - i];
// has: n <= n
// has: ((length * sizeof(float)) + 15) / 16 * 16 <= 16384
// has: turn_by2<<<n / 2, 128, ((length * sizeof(float)) + 15) / 16 * 16 * 2, stream>>>
// lacks: if (row[k] >= rows)
#include <cuda_runtime.h>

__global__ void turn(float *out, const float *in, int rows, int length)
{
    extern __shared__ float values[];
    const int row = blockIdx.x;
    if (row >= rows)
        return;
    for (int i = threadIdx.x; i < length; i += blockDim.x)
        values[i] = in[row * length + i];
    __syncthreads();
    for (int i = threadIdx.x; i < length; i += blockDim.x)
        out[row * length + i] = values[length - 1 - i];
}

extern "C" void entry(float *out, const float *in, int n, int length, cudaStream_t stream)
{
    turn<<<n, 128, length * sizeof(float), stream>>>(out, in, n, length);
}
