// Every compound assignment, ++ and -- in both positions, chained assignment, the comma.
__global__ void k(int a, int b, int c, int d)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    int a, b, c = n, d = 1;
    a = b = c;
    a += 3, a -= 1, a *= 4, a /= 3, a %= 5;
    b <<= 2;
    b >>= 1;
    b |= 1;
    b &= ~2;
    b ^= 8;
    d = c++, d += ++c;
    d -= c--, d += --c;
    k<<<1, 1, 0, stream>>>(a, b, c, d);
}

// run: n=7
// launch k (1,1,1) (1,1,1) 0 [2:i32, 5:i32, 7:i32, 14:i32]
