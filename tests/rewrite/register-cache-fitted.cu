// As few steps as a row takes: a template, and the launcher chooses.
// transform: register-cache 104
// applies: line 22
// fact: d high 1000
// has: template <int STEPS>
// has: float in_kept[STEPS]; // read again below
// has: if (d <= 1 * threads) {
// has: work_keep<1><<<n, threads, 0, stream>>>
// has: } else if (d <= 4 * threads) {
// has: work_keep<4><<<n, threads, 0, stream>>>
// lacks: work_keep<8>
#include <cstdint>

__global__ void work(float *out, const float *in, int n, int d)
{
    int row = blockIdx.x * d;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < d; i += 256) {
        float value = in[row + i];
        sum += value;
    }
    for (int i = threadIdx.x; i < d; i += 256) {
        float value = in[row + i];
        out[row + i] = value * sum;
    }
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<<<n, 256, 0, stream>>>(out, in, n, d);
}
