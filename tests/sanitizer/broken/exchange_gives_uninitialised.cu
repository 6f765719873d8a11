// What an exchange finds in memory that nothing wrote is stored elsewhere.
// buffer: out i32 64 out
// buffer: in i32 32 in
// launch: kernel grid 1 block 32 args out in
extern "C" __global__ void kernel(int *out, const int *in)
{
    int before = atomicExch(&out[threadIdx.x], in[threadIdx.x]);
    out[32 + threadIdx.x] = before; // expect: unsafe uninitialised
}
