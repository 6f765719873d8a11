// Structures with padding are copied through shared memory as they are.
// buffer: out u32 64 inout
// buffer: in u32 64 in
// launch: kernel grid 1 block 32 args out in
struct pair {
    unsigned value;
    unsigned char tag; // three bytes of padding follow
};

extern "C" __global__ void kernel(unsigned *out, const unsigned *in)
{
    __shared__ pair a[32], b[32];
    int t = threadIdx.x;
    a[t].value = in[t];
    a[t].tag = (unsigned char)t;
    __syncthreads();
    ((uint2 *)b)[t] = ((const uint2 *)a)[31 - t];
    __syncthreads();
    out[2 * t] = b[t].value;
    out[2 * t + 1] = b[t].tag;
}
