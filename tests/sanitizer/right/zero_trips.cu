// Loops that do not run, and a null pointer that is not read.
// buffer: out f32 32 out
// launch: kernel grid 1 block 32 args out null 0
extern "C" __global__ void kernel(float *out, const float *in, int n)
{
    float sum = 0.0f;
    for (int k = threadIdx.x; k < n; k += 32)
        sum += in[k];
    out[threadIdx.x] = sum;
}
