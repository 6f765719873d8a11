// 16-byte loads over 1002 elements: the last one straddles the end.
// buffer: out f32 1004 out
// buffer: in f32 1002 in
// launch: kernel grid 2 block 128 args out in 1002
extern "C" __global__ void kernel(float *out, const float *in, int n)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        *(float4 *)(out + i) = *(const float4 *)(in + i); // expect: unsafe out-of-bounds
}
