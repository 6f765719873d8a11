// The warp reads the tile with ldmatrix and with ordinary loads, then writes it: the ordinary reads may come late.
// buffer: out u32 128 out
// buffer: in f16 256 in
// launch: kernel grid 1 block 32 args out in
extern "C" __global__ void kernel(unsigned *out, const unsigned short *in)
{
    __shared__ alignas(16) unsigned short tile[256];
    int t = threadIdx.x;
    ((uint4 *)tile)[t] = ((const uint4 *)in)[t];
    __syncwarp();
    unsigned a[4], from = (unsigned)__cvta_generic_to_shared(tile + t * 8);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(from));
    a[0] += tile[(31 - t) * 8];
    tile[t * 8] = (unsigned short)a[1]; // expect: unsafe race-shared
    ((uint4 *)out)[t] = make_uint4(a[0], a[1], a[2], a[3]);
}
