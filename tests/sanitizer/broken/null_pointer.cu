// An optional bias is null, and is read all the same.
// buffer: out f32 32 out
// launch: kernel grid 1 block 32 args out null
extern "C" __global__ void kernel(float *out, const float *bias)
{
    float b = bias[threadIdx.x]; // expect: unsafe null-pointer
    out[threadIdx.x] = b;
}
