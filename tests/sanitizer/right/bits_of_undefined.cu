// Two 16-bit fields of a word, of which only one was set; shifts and masks take it out.
// buffer: out u32 32 out
// launch: kernel grid 1 block 32 args out
extern "C" __global__ void kernel(unsigned *out)
{
    __shared__ unsigned short s[64];
    int t = threadIdx.x;
    s[2 * t + 1] = (unsigned short)(t * 3);
    __syncthreads();
    unsigned word = ((volatile unsigned *)s)[31 - t];
    unsigned copy = word;
    out[t] = (copy >> 16) + ((word & 0xff000000u) >> 24);
}
