// A sum that is asked for before it is added to and a maximum behind it; the row's end is the thread's own.
// transform: share-rows 32
// applies: line 20
// has: int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
// has: const int k = has ? first + lane : end - 1;
// has: sum_before = lane > 0 ? sum + sum_before : sum;
// has: most_part = lane >= by ? fmaxf(up, most_part) : most_part;
// has: out[k] = sum_before;
// has: if (lane > 0)
// has: work<<<(rows + 1) / 2, 64, 0, stream>>>
// lacks: rows >= 64
#include <cuda_runtime.h>

__global__ void work(float *out, float *largest, float *total, const float *in, const int *ends, int rows)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        const int start = ends[r], end = ends[r + 1];
        float sum = 0.0f, most = -1.0f;
        for (int k = start; k < end; k++) {
            out[k] = sum;
            sum += in[k];
            most = fmaxf(most, in[k]);
            largest[k] = most;
        }
        total[r] = sum;
    }
}

extern "C" void entry(float *out, float *largest, float *total, const float *in, const int *ends, int rows,
                      cudaStream_t stream)
{
    work<<<(rows + 63) / 64, 64, 0, stream>>>(out, largest, total, in, ends, rows);
}
