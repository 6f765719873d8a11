// By copy means the value at the lambda's creation, by reference the present one.
__global__ void k(int a, int b, int c, int d)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    int x = 1, y = 10;
    int table[2] = {5, 6};
    auto copy = [=] { return x + y + table[0]; };
    auto mixed = [x, &y] { return x + y; };
    auto fresh = [z = x * 3](int by) { return z * by; };
    auto reference = [&]() -> int { return x + y + table[0]; };
    x = 100;
    y = 1000;
    table[0] = 10000;
    k<<<1, 1, 0, stream>>>(copy(), mixed(), fresh(n), reference());
}

// run: n=2
// launch k (1,1,1) (1,1,1) 0 [16:i32, 1001:i32, 6:i32, 11100:i32]
