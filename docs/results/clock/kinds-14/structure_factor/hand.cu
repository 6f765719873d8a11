#include <cuda_runtime.h>
// Atoms come through shared memory, 64 at a time, the next ones on their way meanwhile; small blocks, so that few waves
// fill the device, too. Sine and cosine are found together. The order of the sums is the original's.
__global__ void __launch_bounds__(64)
    scatter(float2 *__restrict__ out, const float *__restrict__ wave, const float4 *__restrict__ atom, int waves,
            int atoms)
{
    __shared__ float4 tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t, w = min(i, waves - 1);
    float x = wave[w * 3], y = wave[w * 3 + 1], z = wave[w * 3 + 2], re = 0.0f, im = 0.0f;
    float4 next = atom[min(t, atoms - 1)];
    for (int first = 0; first < atoms; first += 64) {
        tile[t] = next;
        __syncthreads();
        next = atom[min(first + 64 + t, atoms - 1)];
        int many = min(64, atoms - first);
#pragma unroll 4
        for (int k = 0; k < many; k++) {
            float4 a = tile[k];
            float sine, cosine;
            sincosf(x * a.x + y * a.y + z * a.z, &sine, &cosine);
            re += a.w * cosine;
            im += a.w * sine;
        }
        __syncthreads();
    }
    if (i < waves)
        out[i] = make_float2(re, im);
}
extern "C" void structure_factor(float *out, const float *wave, const float *atom, int waves, int atoms,
                                 cudaStream_t stream)
{
    scatter<<<(waves + 63) / 64, 64, 0, stream>>>((float2 *)out, wave, (const float4 *)atom, waves, atoms);
}
