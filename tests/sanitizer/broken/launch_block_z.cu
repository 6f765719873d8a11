// expect: launch-failed bad-launch
// A block 65 deep: its z may be 64.
// buffer: out f32 65 out
// launch: kernel grid 1 block 1,1,65 args out
extern "C" __global__ void kernel(float *out)
{
    out[threadIdx.z] = 1.0f;
}
