#include <cuda_runtime.h>
// The structure factors of a crystal's cell: for each wave the sum over the atoms of their weight times a cosine and a
// sine of the phase. A thread a wave.
__global__ void scatter(float *out, const float *wave, const float *atom, int waves, int atoms)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= waves)
        return;
    float re = 0.0f, im = 0.0f;
    for (int a = 0; a < atoms; a++) {
        float phase = wave[i * 3] * atom[a * 4] + wave[i * 3 + 1] * atom[a * 4 + 1] + wave[i * 3 + 2] * atom[a * 4 + 2];
        re += atom[a * 4 + 3] * cosf(phase);
        im += atom[a * 4 + 3] * sinf(phase);
    }
    out[i * 2] = re;
    out[i * 2 + 1] = im;
}
extern "C" void structure_factor(float *out, const float *wave, const float *atom, int waves, int atoms,
                                 cudaStream_t stream)
{
    scatter<<<(waves + 127) / 128, 128, 0, stream>>>(out, wave, atom, waves, atoms);
}
