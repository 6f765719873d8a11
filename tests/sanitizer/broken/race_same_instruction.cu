// Many lanes store different values to one place in one instruction.
// buffer: out i32 1 out
// buffer: in i32 32 in index
// launch: kernel grid 1 block 32 args out in
extern "C" __global__ void kernel(int *out, const int *in)
{
    __shared__ int winner;
    int v = in[threadIdx.x];
    if (v & 1)
        winner = v; // expect: unsafe race-shared
    __syncthreads();
    if (threadIdx.x == 0)
        out[0] = winner;
}
