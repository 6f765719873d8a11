#include <cuda_fp16.h>
#include <cuda_runtime.h>
// By tensor cores: a warp 16 rows of the state; both sides come out of shared memory turned.
__device__ __forceinline__ void turned(unsigned r[4], const __half *from)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(from);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}
__device__ __forceinline__ void product(float c[4], const unsigned a[4], unsigned b0, unsigned b1)
{
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__global__ void __launch_bounds__(128)
    outer(float *__restrict__ state, const uint4 *__restrict__ key, const uint4 *__restrict__ value)
{
    __shared__ __align__(16) __half ks[64][72], vs[64][72];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    long long at = 512ll * blockIdx.x;
#pragma unroll
    for (int k = t; k < 512; k += 128) {
        *(uint4 *)&ks[k / 8][k % 8 * 8] = key[at + k];
        *(uint4 *)&vs[k / 8][k % 8 * 8] = value[at + k];
    }
    __syncthreads();
    float c[8][4] = {};
#pragma unroll
    for (int k = 0; k < 64; k += 16) {
        unsigned a[4];
        turned(a, &ks[k + lane / 16 * 8 + lane % 8][16 * warp + lane / 8 % 2 * 8]);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            unsigned b[4];
            turned(b, &vs[k + lane % 16][16 * j + lane / 16 * 8]);
            product(c[2 * j], a, b[0], b[1]);
            product(c[2 * j + 1], a, b[2], b[3]);
        }
    }
    float2 *to = (float2 *)(state + 4096ll * blockIdx.x + 64 * (16 * warp + lane / 4)) + lane % 4;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        to[4 * j] = make_float2(c[j][0], c[j][1]);
        to[4 * j + 8 * 32] = make_float2(c[j][2], c[j][3]);
    }
}
extern "C" void chunk_state(float *state, const __half *key, const __half *value, int n, cudaStream_t stream)
{
    outer<<<n, 128, 0, stream>>>(state, (const uint4 *)key, (const uint4 *)value);
}
