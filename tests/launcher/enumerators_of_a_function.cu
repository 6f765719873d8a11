// Constants that a function names by an enumeration of its own.
__global__ void k(float *a, int b, unsigned c, unsigned char d)
{
}

extern "C" void go(float *out, int rows, cudaStream_t stream)
{
    enum { THREADS = 32 * 4, NEXT, LAST = THREADS - 1 };
    enum : unsigned { WARPS = 4 };
    enum : unsigned char { SMALL, LARGE = 255 };
    if (rows > 2) {
        enum { WARPS = 9 };
        k<<<WARPS, THREADS, 0, stream>>>(out, NEXT + LAST, -WARPS, LARGE);
    }
    k<<<(rows + WARPS - 1) / WARPS, WARPS * 32, 0, stream>>>(out, sizeof(LARGE), WARPS - 5, SMALL);
}

// run: rows=5
// launch k (9,1,1) (128,1,1) 0 [out, 256:i32, 4294967287:u32, 255:u8]
// launch k (2,1,1) (128,1,1) 0 [out, 1:i32, 4294967295:u32, 0:u8]
