// __ldg of memory that the same launch writes.
// buffer: x f32 64 inout
// launch: kernel grid 1 block 64 args x
extern "C" __global__ void kernel(float *x)
{
    float v = __ldg(x + threadIdx.x);
    x[threadIdx.x] = v * 2.0f; // expect: unsafe nc-written
}
