// The loop's variable never moves.
// buffer: out f32 32 inout
// launch: kernel grid 1 block 32 args out 4 0
extern "C" __global__ void kernel(float *out, int n, int step)
{
#pragma unroll 1
    for (int k = 0; k < n; k += step) // expect: hung endless-loop
        out[threadIdx.x] = out[threadIdx.x] * 0.5f; // expect: hung endless-loop
}
