// Pairs of a row, in place: both are read before one is written.
// transform: join-accesses 0
// applies: line 13
// has: const auto x_near = near_load<2>(&x[2 * i]);
// has: packed<float, 2> x_near_2;
// has: x_near_2.at[1] = a * s + b * c;
// has: near_store(&x[2 * i], x_near_2);
#include <cuda_runtime.h>

__global__ void turn(float *x, const float *angle, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float a = x[2 * i], b = x[2 * i + 1];
        float s = sinf(angle[i]), c = cosf(angle[i]);
        x[2 * i] = a * c - b * s;
        x[2 * i + 1] = a * s + b * c;
    }
}

extern "C" void entry(float *x, const float *angle, int n, cudaStream_t stream)
{
    turn<<<256, 256, 0, stream>>>(x, angle, n);
}
