// 16-byte loads from a pointer that is 4 bytes off.
// buffer: out f32 128 out
// buffer: in f32 132 in
// launch: kernel grid 1 block 32 args out in+4
extern "C" __global__ void kernel(float *out, const float *in)
{
    ((float4 *)out)[threadIdx.x] = ((const float4 *)in)[threadIdx.x]; // expect: unsafe misaligned
}
