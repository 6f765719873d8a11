// The workspace was given back before the launch.
// buffer: out f32 64 out
// buffer: work f32 64 freed
// launch: kernel grid 1 block 64 args out work
extern "C" __global__ void kernel(float *out, float *work)
{
    work[threadIdx.x] = 1.0f; // expect: unsafe out-of-bounds
    out[threadIdx.x] = 2.0f;
}
