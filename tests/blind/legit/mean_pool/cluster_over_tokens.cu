// A cluster of four blocks shares the tokens of a batch, each adds its quarter in float; rank 0 reads the others' sums through distributed shared memory, and a second cluster barrier keeps them alive.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(128) pool_kernel(float *__restrict__ out, const __half *__restrict__ x, const int *__restrict__ length, int tokens, int d)
{
    __shared__ float2 sums[4][32];
    const unsigned rank = blockIdx.x & 3;
    const int b = blockIdx.x >> 2, lane = threadIdx.x % 32, warp = threadIdx.x / 32, n = length[b];
    const int c = (blockIdx.y * 32 + lane) * 2;
    float2 a = make_float2(0.0f, 0.0f);
    const __half *from = x + (int64_t)b * tokens * d + c;
    if (d % 2 == 0) {
        if (c < d)
            for (int t = rank * 4 + warp; t < n; t += 16) {
                const float2 v = __half22float2(*reinterpret_cast<const __half2 *>(from + (int64_t)t * d));
                a.x += v.x;
                a.y += v.y;
            }
    } else if (c < d) {
        for (int t = rank * 4 + warp; t < n; t += 16) {
            a.x += __half2float(from[(int64_t)t * d]);
            if (c + 1 < d)
                a.y += __half2float(from[(int64_t)t * d + 1]);
        }
    }
    sums[warp][lane] = a;
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (rank == 0 && warp == 0 && c < d) {
        a = make_float2(0.0f, 0.0f);
        for (unsigned r = 0; r < 4; r++) {
            for (int w = 0; w < 4; w++) {
                unsigned at = (unsigned)__cvta_generic_to_shared(&sums[w][lane]), there;
                float2 v;
                asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(r));
                asm volatile("ld.shared::cluster.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "r"(there) : "memory");
                a.x += v.x;
                a.y += v.y;
            }
        }
        out[(int64_t)b * d + c] = n ? a.x / n : 0.0f;
        if (c + 1 < d)
            out[(int64_t)b * d + c + 1] = n ? a.y / n : 0.0f;
    }
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}

extern "C" void mean_pool(float *out, const __half *x, const int *length, int batch, int tokens, int d, cudaStream_t stream)
{
    pool_kernel<<<dim3(batch * 4, (d + 63) / 64), 128, 0, stream>>>(out, x, length, tokens, d);
}
