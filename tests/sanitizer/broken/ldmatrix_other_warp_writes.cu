// The second warp writes the tile that the first loads with ldmatrix: .sync says nothing of other warps.
// buffer: out u32 256 out
// buffer: in f16 256 in
// launch: kernel grid 1 block 64 args out in
extern "C" __global__ void kernel(unsigned *out, const unsigned short *in)
{
    __shared__ alignas(16) unsigned short tile[256];
    int t = threadIdx.x;
    if (t < 32)
        ((uint4 *)tile)[t] = ((const uint4 *)in)[t];
    __syncthreads();
    unsigned a[4] = {}, from = (unsigned)__cvta_generic_to_shared(tile + t % 32 * 8);
    if (t < 32)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                     : "r"(from)); // expect: unsafe race-shared
    else
        tile[t] = (unsigned short)t; // expect: unsafe race-shared
    ((uint4 *)out)[t] = make_uint4(a[0], a[1], a[2], a[3]);
}
