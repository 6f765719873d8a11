// The element goes to shared memory, where a tree adds it up.
// transform: sum-first 16
// applies: line 14
// has: float sum = 0;
// has: sum += in[i] * in[i];
// has: part[threadIdx.x] = sum;
// has: (int64_t)blocks * 256 >= n
#include <cstdint>

__global__ void total(const float *in, float *out, size_t n)
{
    __shared__ float part[256];
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? in[i] * in[i] : 0;
    __syncthreads();
    for (unsigned int step = blockDim.x / 2; step > 0; step >>= 1) {
        if (threadIdx.x < step)
            part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(out, part[0]);
}

extern "C" void entry(const float *in, float *out, int n, cudaStream_t stream)
{
    int blocks = (n + 255) / 256;
    cudaMemsetAsync(out, 0, sizeof(float), stream);
    total<<<blocks, 256, 0, stream>>>(in, out, n);
}
