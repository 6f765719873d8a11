// expect: launch-failed bad-launch
// 1025 threads a block.
// buffer: out f32 1025 out
// launch: kernel grid 1 block 1025 args out
extern "C" __global__ void kernel(float *out)
{
    out[threadIdx.x] = 1.0f;
}
