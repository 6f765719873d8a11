// expect: launch-failed bad-launch
// More threads than __launch_bounds__ promised.
// buffer: out f32 512 out
// launch: kernel grid 1 block 512 args out
extern "C" __global__ void __launch_bounds__(256) kernel(float *out)
{
    out[threadIdx.x] = 1.0f;
}
