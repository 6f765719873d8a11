// Comparisons and arithmetic between signed and unsigned follow the usual arithmetic conversions.
__global__ void k(int less, int mixed, long wide, unsigned long size, int shifted, int rem)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    int less = -1 < 1u;               // -1 becomes 4294967295
    int mixed = (n - 5) / 2;          // towards zero
    long wide = (unsigned)n + -1L;    // long holds every unsigned
    unsigned long size = sizeof(float) * n - 1;
    int shifted = -16 >> 2;
    k<<<1, 1, 0, stream>>>(less, mixed, wide, size, shifted, (n - 7) % 4);
}

// run: n=2
// launch k (1,1,1) (1,1,1) 0 [0:i32, -1:i32, 1:i64, 7:u64, -4:i32, -1:i32]
