// index[r] = the place of the largest number of row r, the first one where several are equal; one block per row.
#include <climits>
#include <cstdint>
#include <math_constants.h>

constexpr int THREADS = 128;

__global__ void argmax_rows_kernel(int *index, const float *in, int d)
{
    __shared__ float values[THREADS];
    __shared__ int places[THREADS];
    int tid = threadIdx.x;
    int64_t row = (int64_t)blockIdx.x * d;

    float best = -CUDART_INF_F;
    int place = INT_MAX;
    for (int i = tid; i < d; i += THREADS) {
        float value = in[row + i];
        if (value > best) {
            best = value;
            place = i;
        }
    }
    values[tid] = best;
    places[tid] = place;
    __syncthreads();
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (tid < step) {
            float other = values[tid + step];
            int there = places[tid + step];
            if (other > values[tid] || (other == values[tid] && there < places[tid])) {
                values[tid] = other;
                places[tid] = there;
            }
        }
        __syncthreads();
    }
    if (tid == 0)
        index[blockIdx.x] = places[0];
}

extern "C" void argmax_rows(int *index, const float *in, int rows, int d, cudaStream_t stream)
{
    argmax_rows_kernel<<<rows, THREADS, 0, stream>>>(index, in, d);
}
