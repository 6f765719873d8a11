// 240,000 bytes of dynamic shared memory.
// expect: launch-failed bad-launch
// buffer: out f32 32 out
// launch: kernel grid 1 block 32 shared 240000 args out
extern "C" __global__ void kernel(float *out)
{
    out[threadIdx.x] = 1.0f;
}
