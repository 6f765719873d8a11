// Element 5 of a local array is never set.
// buffer: out f32 8 out
// launch: kernel grid 1 block 8 args out 5
extern "C" __global__ void kernel(float *out, int n)
{
    float a[8];
#pragma unroll 1
    for (int k = 0; k < n; k++)
        a[k] = (float)k;
    out[threadIdx.x] = a[threadIdx.x]; // expect: unsafe uninitialised
}
