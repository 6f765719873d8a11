// wrong because: A cp.async ring of four: no empty groups are committed past the end, so near the end wait_group 3 no longer covers the stage that is read. Wrong for every vocab of whole vectors, by chance.
#include <cstdint>
#include <cuda_bf16.h>

constexpr int T = 256, STAGES = 4;

__global__ void __launch_bounds__(T) loss_kernel(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int vocab)
{
    __shared__ uint4 ring[STAGES][T];
    __shared__ float2 part[T / 32];
    const __nv_bfloat16 *x = logits + (int64_t)blockIdx.x * vocab;
    float most = -3.402823466e38f, sum = 0.0f;
    if (vocab % 8 == 0) {
        int vectors = vocab / 8, laps = (vectors + T - 1) / T;
        auto start = [&](int lap) {
            int i = lap * T + threadIdx.x;
            if (i < vectors) {
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(&ring[lap % STAGES][threadIdx.x])), "l"(x + (int64_t)i * 8) : "memory");
                asm volatile("cp.async.commit_group;" ::: "memory");
            }
        };
        for (int lap = 0; lap < STAGES - 1; lap++)
            start(lap);
        for (int lap = 0; lap < laps; lap++) {
            start(lap + STAGES - 1);
            asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
            if (lap * T + (int)threadIdx.x < vectors) {
                uint4 v = ring[lap % STAGES][threadIdx.x];
                const __nv_bfloat162 *h = reinterpret_cast<const __nv_bfloat162 *>(&v);
                float old = most;
                for (int j = 0; j < 4; j++)
                    most = fmaxf(most, fmaxf(__low2float(h[j]), __high2float(h[j])));
                sum *= expf(old - most);
                for (int j = 0; j < 4; j++)
                    sum += expf(__low2float(h[j]) - most) + expf(__high2float(h[j]) - most);
            }
        }
    } else {
        for (int i = threadIdx.x; i < vocab; i += T) {
            float v = __bfloat162float(x[i]), old = most;
            most = fmaxf(most, v);
            sum = sum * expf(old - most) + expf(v - most);
        }
    }
    for (int k = 16; k; k >>= 1) {
        float m = __shfl_xor_sync(~0u, most, k), s = __shfl_xor_sync(~0u, sum, k), top = fmaxf(most, m);
        sum = sum * expf(most - top) + s * expf(m - top);
        most = top;
    }
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = make_float2(most, sum);
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < T / 32; w++) {
            float top = fmaxf(most, part[w].x);
            sum = sum * expf(most - top) + part[w].y * expf(part[w].x - top);
            most = top;
        }
        int64_t t = target[blockIdx.x];
        loss[blockIdx.x] = t < 0 ? 0.0f : logf(sum) + most - __bfloat162float(x[t]);
    }
}

extern "C" void cross_entropy(float *loss, const __nv_bfloat16 *logits, const int64_t *target, int rows, int vocab, cudaStream_t stream)
{
    loss_kernel<<<rows, T, 0, stream>>>(loss, logits, target, vocab);
}
