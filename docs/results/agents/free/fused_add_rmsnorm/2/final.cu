// residual += x; x = residual / rms(residual) * weight; both in place, the row kept in registers.
#include <cstdint>

constexpr int VEC = 4;

__device__ __forceinline__ float warp_sum(float v)
{
#pragma unroll
    for (int s = 16; s > 0; s /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, s);
    return v;
}

// CLUSTER blocks a row, COUNT vectors a thread.
template <int THREADS, int COUNT, int CLUSTER>
__device__ __forceinline__ void row_body(float *__restrict__ x, float *__restrict__ residual,
                                         const float *__restrict__ weight, int d, float eps)
{
    constexpr int WARPS = THREADS / 32, PARTS = WARPS * CLUSTER;
    __shared__ __align__(16) float partial[PARTS < 4 ? 4 : PARTS];
    if (CLUSTER > 1)
        asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    const int64_t row = blockIdx.x / CLUSTER;
    const int rank = blockIdx.x % CLUSTER;
    const int vectors = d / VEC;
    float4 *x_row = reinterpret_cast<float4 *>(x + row * d);
    float4 *residual_row = reinterpret_cast<float4 *>(residual + row * d);
    const float4 *weights = reinterpret_cast<const float4 *>(weight);
    const int base = rank * (THREADS * COUNT) + threadIdx.x;

    float4 v[COUNT], r[COUNT];
#pragma unroll
    for (int u = 0; u < COUNT; u++) {
        const int i = base + u * THREADS;
        v[u] = r[u] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (i < vectors) {
            v[u] = __ldcs(x_row + i);
            r[u] = __ldcs(residual_row + i);
        }
    }
    float sum = 0.0f;
#pragma unroll
    for (int u = 0; u < COUNT; u++) {
        const int i = base + u * THREADS;
        v[u].x += r[u].x;
        v[u].y += r[u].y;
        v[u].z += r[u].z;
        v[u].w += r[u].w;
        if (i < vectors)
            __stcs(residual_row + i, v[u]);
        sum += (v[u].x * v[u].x + v[u].y * v[u].y) + (v[u].z * v[u].z + v[u].w * v[u].w);
    }
    float4 w[COUNT];
#pragma unroll
    for (int u = 0; u < COUNT; u++) {
        const int i = base + u * THREADS;
        if (i < vectors)
            w[u] = __ldg(weights + i);
    }
    sum = warp_sum(sum);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (CLUSTER > 1) {
        asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
        if (lane < CLUSTER) {
            unsigned local = (unsigned)__cvta_generic_to_shared(&partial[rank * WARPS + warp]), remote;
            asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(local), "r"(lane));
            asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(remote), "f"(sum) : "memory");
        }
        asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
        asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    } else {
        if (lane == 0)
            partial[warp] = sum;
        __syncthreads();
    }
    sum = 0.0f;
    if (PARTS % 4 == 0) {
        const float4 *parts = reinterpret_cast<const float4 *>(partial);
#pragma unroll
        for (int p = 0; p < PARTS / 4; p++)
            sum += (parts[p].x + parts[p].y) + (parts[p].z + parts[p].w);
    } else {
#pragma unroll
        for (int p = 0; p < PARTS; p++)
            sum += partial[p];
    }
    const float scale = rsqrtf(sum / d + eps);
#pragma unroll
    for (int u = 0; u < COUNT; u++) {
        const int i = base + u * THREADS;
        if (i < vectors)
            __stcs(x_row + i, make_float4(v[u].x * scale * w[u].x, v[u].y * scale * w[u].y, v[u].z * scale * w[u].z,
                                          v[u].w * scale * w[u].w));
    }
}

template <int THREADS, int COUNT, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    fused_row(float *__restrict__ x, float *__restrict__ residual, const float *__restrict__ weight, int d, float eps)
{
    row_body<THREADS, COUNT, 1>(x, residual, weight, d, eps);
}

template <int THREADS, int COUNT, int CLUSTER>
__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS)
    fused_cluster(float *__restrict__ x, float *__restrict__ residual, const float *__restrict__ weight, int d,
                  float eps)
{
    row_body<THREADS, COUNT, CLUSTER>(x, residual, weight, d, eps);
}

__global__ void __launch_bounds__(512)
    fused_any(float *__restrict__ x, float *__restrict__ residual, const float *__restrict__ weight, int d, float eps)
{
    __shared__ float partial[16];
    const int64_t row = (int64_t)blockIdx.x * d;
    float sum = 0.0f;
    for (int64_t i = threadIdx.x; i < d; i += 512) {
        float value = x[row + i] + residual[row + i];
        residual[row + i] = value;
        sum += value * value;
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0.0f;
#pragma unroll
    for (int w = 0; w < 16; w++)
        sum += partial[w];
    const float scale = rsqrtf(sum / d + eps);
    for (int64_t i = threadIdx.x; i < d; i += 512)
        x[row + i] = residual[row + i] * scale * weight[i];
}

extern "C" void fused_add_rmsnorm(float *x, float *residual, const float *weight, int rows, int d, float eps,
                                  cudaStream_t stream)
{
    const bool aligned = d % VEC == 0 && (uintptr_t)x % 16 == 0 && (uintptr_t)residual % 16 == 0 &&
                         (uintptr_t)weight % 16 == 0;
    if (!aligned || d > 4 * 4096)
        fused_any<<<rows, 512, 0, stream>>>(x, residual, weight, d, eps);
    else if (d > 4 * 3584)
        fused_row<1024, 4, 1><<<rows, 1024, 0, stream>>>(x, residual, weight, d, eps);
    else if (d > 4 * 2048)
        fused_row<512, 7, 2><<<rows, 512, 0, stream>>>(x, residual, weight, d, eps);
    else if (d > 4 * 1024 && rows <= 66)
        fused_cluster<512, 2, 2><<<rows * 2, 512, 0, stream>>>(x, residual, weight, d, eps);
    else if (d > 4 * 1024)
        fused_row<512, 4, 2><<<rows, 512, 0, stream>>>(x, residual, weight, d, eps);
    else if (d > 4 * 512 && rows <= 33)
        fused_cluster<256, 1, 4><<<rows * 4, 256, 0, stream>>>(x, residual, weight, d, eps);
    else if (d > 4 * 512 && rows <= 264)
        fused_row<512, 2, 2><<<rows, 512, 0, stream>>>(x, residual, weight, d, eps);
    else if (d > 4 * 256)
        fused_row<256, 4, 4><<<rows, 256, 0, stream>>>(x, residual, weight, d, eps);
    else
        fused_row<256, 1, 4><<<rows, 256, 0, stream>>>(x, residual, weight, d, eps);
}
