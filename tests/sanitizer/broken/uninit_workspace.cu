// A workspace is accumulated into, but never cleared.
// buffer: out f32 64 out
// buffer: work f32 64 scratch
// buffer: in f32 64 in
// launch: kernel grid 1 block 64 args out work in
extern "C" __global__ void kernel(float *out, float *work, const float *in)
{
    int t = threadIdx.x;
    work[t] += in[t];
    out[t] = work[t]; // expect: unsafe uninitialised
}
