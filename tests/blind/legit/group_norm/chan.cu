// groups cut into slices, mean and M2 of each by two passes, joined by Chan's formula through a workspace, then applied.
#include <cuda_runtime.h>

struct Moments { float mean, m2; };

__device__ float block_sum(float x)
{
    __shared__ float s[8];
    for (int o = 16; o; o >>= 1)
        x += __shfl_xor_sync(0xffffffffu, x, o);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = x;
    __syncthreads();
    x = s[threadIdx.x % 8];
    for (int o = 4; o; o >>= 1)
        x += __shfl_xor_sync(0xffffffffu, x, o);
    return x;
}

__device__ __forceinline__ int slice_size(int count, int slices) { return ((count + slices - 1) / slices + 3) / 4 * 4; }

template <bool VEC> __global__ __launch_bounds__(256) void moments_kernel(Moments *part, const float *__restrict__ x, int count)
{
    int size = slice_size(count, gridDim.x), begin = blockIdx.x * size, length = min(size, count - begin);
    size_t group = (size_t)blockIdx.z * gridDim.y + blockIdx.y;
    const float *p = x + group * count + begin;
    float sum = 0.f;
    if (VEC)
        for (int i = threadIdx.x; i < length / 4; i += 256) {
            float4 a = reinterpret_cast<const float4 *>(p)[i];
            sum += (a.x + a.y) + (a.z + a.w);
        }
    else
        for (int i = threadIdx.x; i < length; i += 256)
            sum += p[i];
    float mean = block_sum(sum) / length, m2 = 0.f;
    if (VEC)
        for (int i = threadIdx.x; i < length / 4; i += 256) {
            float4 a = reinterpret_cast<const float4 *>(p)[i];
            a.x -= mean, a.y -= mean, a.z -= mean, a.w -= mean;
            m2 += (a.x * a.x + a.y * a.y) + (a.z * a.z + a.w * a.w);
        }
    else
        for (int i = threadIdx.x; i < length; i += 256) {
            float a = p[i] - mean;
            m2 += a * a;
        }
    m2 = block_sum(m2);
    if (threadIdx.x == 0)
        part[group * gridDim.x + blockIdx.x] = Moments{mean, m2};
}

template <bool VEC> __global__ __launch_bounds__(256) void apply_kernel(float *__restrict__ y, const float *__restrict__ x,
    const Moments *__restrict__ part, const float *__restrict__ gamma, const float *__restrict__ beta, int count, int hw, float eps)
{
    int size = slice_size(count, gridDim.x), begin = blockIdx.x * size, length = min(size, count - begin);
    size_t group = (size_t)blockIdx.z * gridDim.y + blockIdx.y;
    float mean = 0.f, m2 = 0.f, have = 0.f;
    for (int s = 0; s < (int)gridDim.x; s++) {
        Moments b = part[group * gridDim.x + s];
        float n = (float)min(size, count - s * size), all = have + n, delta = b.mean - mean;
        mean += delta * (n / all);
        m2 += b.m2 + delta * delta * (have * n / all);
        have = all;
    }
    float rstd = rsqrtf(m2 / count + eps);
    const float *p = x + group * count + begin;
    float *q = y + group * count + begin;
    int first = blockIdx.y * (count / hw);
    if (VEC)
        for (int i = threadIdx.x; i < length / 4; i += 256) {
            int channel = first + (begin + 4 * i) / hw;
            float g = gamma[channel], b = beta[channel];
            float4 a = reinterpret_cast<const float4 *>(p)[i];
            a.x = (a.x - mean) * rstd * g + b;
            a.y = (a.y - mean) * rstd * g + b;
            a.z = (a.z - mean) * rstd * g + b;
            a.w = (a.w - mean) * rstd * g + b;
            reinterpret_cast<float4 *>(q)[i] = a;
        }
    else
        for (int i = threadIdx.x; i < length; i += 256) {
            int channel = first + (begin + i) / hw;
            q[i] = (p[i] - mean) * rstd * gamma[channel] + beta[channel];
        }
}

extern "C" void group_norm(float *y, const float *x, const float *gamma, const float *beta, int n, int c, int hw,
                           int groups, float eps, cudaStream_t stream)
{
    int count = c / groups * hw, slices = count / 8192;
    slices = slices < 1 ? 1 : slices > 64 ? 64 : slices;
    Moments *part;
    cudaMallocAsync((void **)&part, (size_t)n * groups * slices * sizeof(Moments), stream);
    dim3 grid(slices, groups, n);
    if (hw % 4 == 0) {
        moments_kernel<true><<<grid, 256, 0, stream>>>(part, x, count);
        apply_kernel<true><<<grid, 256, 0, stream>>>(y, x, part, gamma, beta, count, hw, eps);
    } else {
        moments_kernel<false><<<grid, 256, 0, stream>>>(part, x, count);
        apply_kernel<false><<<grid, 256, 0, stream>>>(y, x, part, gamma, beta, count, hw, eps);
    }
    cudaFreeAsync(part, stream);
}
