// Lanes that found something share one atomic, under a mask from __activemask.
// buffer: out i32 256 scratch
// buffer: count u32 1 inout zeros
// buffer: in i32 256 in index
// launch: kernel grid 2 block 128 args out count in
extern "C" __global__ void kernel(int *out, unsigned *count, const int *in)
{
    int v = in[blockIdx.x * 128 + threadIdx.x];
    if (v % 3 == 0) {
        unsigned mask = __activemask();
        int leader = __ffs(mask) - 1, lane = threadIdx.x % 32;
        unsigned base = 0;
        if (lane == leader)
            base = atomicAdd(count, __popc(mask));
        base = __shfl_sync(mask, base, leader);
        out[base + __popc(mask & ((1u << lane) - 1))] = v;
    }
}
