// Eight warps share k and v in shared memory, each warp takes rows in turn: two scores a lane, probabilities by shuffle, an output pair a lane.
#include <cuda_fp16.h>
#include <cstdint>

__global__ void __launch_bounds__(256) attention_kernel(__half *__restrict__ out, const __half *__restrict__ q, const __half *__restrict__ k, const __half *__restrict__ v, int rows, int keys)
{
    __shared__ __half2 sk[64][33], sv[64][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = threadIdx.x; i < keys * 32; i += 256) {
        sk[i / 32][i % 32] = reinterpret_cast<const __half2 *>(k)[i];
        sv[i / 32][i % 32] = reinterpret_cast<const __half2 *>(v)[i];
    }
    __syncthreads();
    for (int row = blockIdx.x * 8 + warp; row < rows; row += gridDim.x * 8) {
        const float2 own = __half22float2(reinterpret_cast<const __half2 *>(q)[(int64_t)row * 32 + lane]);
        float a = 0.0f, b = 0.0f;
        const int ja = min(lane, keys - 1), jb = min(lane + 32, keys - 1);
#pragma unroll 8
        for (int d = 0; d < 32; d++) {
            const float x = __shfl_sync(~0u, own.x, d), y = __shfl_sync(~0u, own.y, d);
            const float2 ka = __half22float2(sk[ja][d]), kb = __half22float2(sk[jb][d]);
            a += x * ka.x + y * ka.y;
            b += x * kb.x + y * kb.y;
        }
        a *= 0.125f;
        b *= 0.125f;
        float most = fmaxf(a, b);
#pragma unroll
        for (int i = 1; i < 32; i <<= 1)
            most = fmaxf(most, __shfl_xor_sync(~0u, most, i));
        a = lane < keys ? expf(a - most) : 0.0f;
        b = lane + 32 < keys ? expf(b - most) : 0.0f;
        float sum = a + b;
#pragma unroll
        for (int i = 1; i < 32; i <<= 1)
            sum += __shfl_xor_sync(~0u, sum, i);
        float2 o = make_float2(0.0f, 0.0f);
        for (int j = 0; j < keys; j++) {
            const float p = __shfl_sync(~0u, j < 32 ? a : b, j & 31);
            const float2 w = __half22float2(sv[j][lane]);
            o.x += p * w.x;
            o.y += p * w.y;
        }
        reinterpret_cast<__half2 *>(out)[(int64_t)row * 32 + lane] = __floats2half2_rn(o.x / sum, o.y / sum);
    }
}

extern "C" void attention(__half *out, const __half *q, const __half *k, const __half *v, int rows, int keys, cudaStream_t stream)
{
    const int wanted = (rows + 7) / 8;
    attention_kernel<<<wanted < 264 ? wanted : 264, 256, 0, stream>>>(out, q, k, v, rows, keys);
}
