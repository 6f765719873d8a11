/* Astra 0.1.0: conv3x3, 1.08x the original's speed (geometric mean of 2 workloads, modelled on NVIDIA H200)
 * original  e88d144888c5d1e5d58c0ea449194e0a269f7b79a0706548d32e28ddad231552
 * task      b48d5d439e768506a231428e491e4c91b5e4662bebcc8f5ff46b4334ecd07309
 * suite     2b02945fe650d475af6427bd237750a6d813fd4a3e9022d21795e46a52693a60
 * seeds     1, hidden 6056054494186677
 * compiler  NVRTC 13.0
 * judged    9d4f1b687b3e3e5fcadf50450ad1c81d043ac6c300c40c7a225a4ac1fec0152b
 * SHA-256 each; judged: of all that follows this comment. `astra verify` repeats the judgement. */
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cstdint>

__global__ void depthwise(float *out, const float *in, const float *w, int n, int c, int hh, int ww)
{
#pragma unroll
    for (int item = 0; item < 4; item++) {
        int x = (blockIdx.x * 4 + item) * blockDim.x + threadIdx.x;
        int y = blockIdx.y * blockDim.y + threadIdx.y;
        int p = blockIdx.z;
        if (x >= ww || y >= hh)
            return;
        float acc = 0.0f;
        for (int ky = -1; ky <= 1; ky++)
            for (int kx = -1; kx <= 1; kx++) {
                int yy = y + ky, xx = x + kx;
                if (yy >= 0 && yy < hh && xx >= 0 && xx < ww)
                    acc += in[((int64_t)p * hh + yy) * ww + xx] * w[(p % c) * 9 + (ky + 1) * 3 + kx + 1];
            }
        out[((int64_t)p * hh + y) * ww + x] = acc;
    }
}
extern "C" void conv3x3(float *out, const float *in, const float *w, int n, int c, int hh, int ww, cudaStream_t stream)
{
    dim3 block(16, 16), grid((ww + 15) / 16, (hh + 15) / 16, n * c);
    depthwise<<<dim3((grid.x + 3) / 4, grid.y, grid.z), block, 0, stream>>>(out, in, w, n, c, hh, ww);
}
