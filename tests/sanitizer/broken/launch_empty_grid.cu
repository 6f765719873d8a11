// A grid of no blocks, from a length of zero.
// expect: launch-failed bad-launch
// buffer: out f32 32 out
// launch: kernel grid 0 block 32 args out
extern "C" __global__ void kernel(float *out)
{
    out[threadIdx.x] = 1.0f;
}
