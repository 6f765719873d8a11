// Two passes over a row that is updated in place.
// gpu: near 2, ptxas fuses a multiply and an add
// buffer: x f32 1024 inout
// buffer: residual f32 1024 inout
// launch: kernel grid 4 block 64 args x residual 256
extern "C" __global__ void kernel(float *x, float *residual, int d)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    x += blockIdx.x * d;
    residual += blockIdx.x * d;
    float sum = 0.0f;
    for (int i = t; i < d; i += 64) {
        float v = x[i] + residual[i];
        residual[i] = v;
        sum += v * v;
    }
    s[t] = sum;
    __syncthreads();
    for (int k = 32; k > 0; k >>= 1) {
        if (t < k)
            s[t] += s[t + k];
        __syncthreads();
    }
    float scale = rsqrtf(s[0] / d + 1e-6f);
    for (int i = t; i < d; i += 64)
        x[i] = residual[i] * scale;
}
