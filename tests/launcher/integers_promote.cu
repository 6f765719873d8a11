// Integer types, promotions, wrap-around of unsigned, conversions to the kernel's parameter types.
__global__ void k(signed char a, unsigned char b, short c, unsigned short d, int e, unsigned f, long g,
                  unsigned long long h, bool i)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    unsigned char small = 250;
    small += 10;
    unsigned wrapped = 0u - 1;
    long long big = (long long)n * 3000000000;
    unsigned short us = 65535;
    us++;
    signed char negative = (signed char)200;
    k<<<1, 1, 0, stream>>>(negative, small, -5, us, n << 4, wrapped, big, ~0ull, n > 3);
}

// run: n=4
// launch k (1,1,1) (1,1,1) 0 [-56:i8, 4:u8, -5:i16, 0:u16, 64:i32, 4294967295:u32, 12000000000:i64, 18446744073709551615:u64, 1:bool]
