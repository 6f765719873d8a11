// Numbers and characters in all their spellings.
__global__ void k(int a, unsigned b, long c, unsigned long long d, int e, double f, float g, int h, int i)
{
}

extern "C" void go(float *p, cudaStream_t stream)
{
    k<<<1, 1, 0, stream>>>(0x7f + 010 + 0b101, 0xffffffff, 1'000'000'000'000, 18446744073709551615ull, 'a' + '\n',
                           1e-3, 1.5e2f, sizeof(0x80000000) + sizeof(2147483648), sizeof(1u) * sizeof('c'));
}

// run:
// launch k (1,1,1) (1,1,1) 0 [140:i32, 4294967295:u32, 1000000000000:i64, 18446744073709551615:u64, 107:i32, 0.001:f64, 150:f32, 12:i32, 4:i32]
