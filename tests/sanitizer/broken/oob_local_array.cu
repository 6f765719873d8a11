// A local array of 8, indexed up to 8.
// buffer: out f32 32 out
// launch: kernel grid 1 block 32 args out 9
extern "C" __global__ void kernel(float *out, int n)
{
    float a[8];
#pragma unroll 1
    for (int k = 0; k < n; k++)
        a[k ^ (n & 0)] = (float)(k * threadIdx.x); // expect: unsafe out-of-bounds
    out[threadIdx.x] = a[n / 2] + a[threadIdx.x & 7];
}
