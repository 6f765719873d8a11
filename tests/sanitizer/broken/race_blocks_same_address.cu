// Every block writes its own number to the same element.
// buffer: out i32 1 out
// launch: kernel grid 4 block 32 args out
extern "C" __global__ void kernel(int *out)
{
    if (threadIdx.x == 0)
        out[0] = blockIdx.x; // expect: unsafe race-global
}
