// What threads leave for all is sent to every block, from the kernel and for each call of a helper.
// transform: cluster-row 4
// applies: line 53
// has: template <int MEETING>
// has: __device__ float block_sum_cluster(float v)
// has: cluster_expect(MEETING, 32 * sizeof(part[0]));
// has: cluster_send<4>(MEETING, &part[thread / 32], v);
// has: cluster_meet(MEETING);
// has: v = part[thread % 32];
// has: cluster_begin(4);
// has: cluster_begun();
// has: total = block_sum_cluster<1>(total);
// has: squares = block_sum_cluster<2>(squares);
// has: cluster_expect(0, 1 * sizeof(all));
// has: cluster_send<4>(0, &all, total);
// has: largest = block_max_cluster<3, float>(largest);
// has: if (n <= 33 && d > 2048) {
// has: work_cluster<<<n * 4, 256, 0, stream>>>(out, in, n, d);
// lacks: cooperative_groups::this_cluster().sync()
#include <cuda_runtime.h>

__device__ float block_sum(float v)
{
    __shared__ float part[32];
    for (int o = 16; o > 0; o /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, o);
    __syncthreads(); // of the call before
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    v = part[threadIdx.x % 32];
    for (int o = 16; o > 0; o /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, o);
    return v;
}

template <typename T> __device__ T block_max(T v)
{
    __shared__ T part[32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int o = 16; o > 0; o /= 2)
        v = max(v, __shfl_xor_sync(0xffffffffu, v, o));
    if (!lane) {
        part[warp] = v;
    }
    __syncthreads();
    v = part[lane];
    for (int o = 16; o > 0; o /= 2)
        v = max(v, __shfl_xor_sync(0xffffffffu, v, o));
    return v;
}

__global__ void work(float *out, const float *in, int n, int d)
{
    __shared__ float all;
    float total = 0.0f, squares = 0.0f, largest = -1.0f;
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float x = in[blockIdx.x * d + i];
        total += x;
        squares += x * x;
        largest = max(largest, x);
    }
    total = block_sum(total);
    squares = block_sum(squares);
    largest = block_max<float>(largest);
    if (threadIdx.x == 0)
        all = total;
    __syncthreads();
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[blockIdx.x * d + i] = in[blockIdx.x * d + i] * largest / (all + squares);
}
extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 1024, 0, stream>>>(out, in, n, d);
}
