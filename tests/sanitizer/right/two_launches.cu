// The second launch reads what the first one wrote, other blocks and all.
// buffer: out f32 512 out
// buffer: work f32 512 scratch
// launch: kernel grid 4 block 128 args work
// launch: second grid 4 block 128 args out work
extern "C" __global__ void kernel(float *work)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    work[i] = (float)i;
}

extern "C" __global__ void second(float *out, const float *__restrict__ work)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    out[i] = __ldg(work + 511 - i);
}
