// expect: launch-failed bad-launch
// A grid 65,536 high: its y and z may be 65,535.
// buffer: out f32 65536 out
// launch: kernel grid 1,65536 block 1 args out
extern "C" __global__ void kernel(float *out)
{
    out[blockIdx.y] = 1.0f;
}
