// Forms of C++17 that launchers use: each gives what g++ makes of it.
struct Shape {
    int tiles;
    long bytes;
};
static int scaled(int n, int by = 2);
[[nodiscard]] static Shape shape_of(int n) noexcept(sizeof(int) == 4)
{
    return {n / 2, n * 4l};
}
static int scaled(int n, int by)
{
    return n * by;
}
static constexpr int table[] = {1, 2, 4};
__global__ void k(long a, long b)
{
}

extern "C" void go(int n, cudaStream_t stream)
{
    [[maybe_unused]] int unused = 3;
    long sum = 0;
    for (int t : table)
        sum = sum * 10 + t;
    for (auto t : {n, n + 1, 3}) {
        if (t == 3)
            break;
        sum += t;
    }
    int w[3] = {1, 2, 3};
    for (auto &x : w)
        x *= 2;
    auto [tiles, bytes] = shape_of(n);
    auto &[first, second, third] = w;
    second += 5;
    k<<<1, 1, 0, stream>>>(sum, w[1] * 100 + third);
    k<<<1, 1, 0, stream>>>(tiles, bytes);
    if (int half = n / 2)
        k<<<1, 1, 0, stream>>>(half, alignof(Shape) + alignof(short *) + first);
    switch (int low = n & 1) {
    case 0:
        k<<<1, 1, 0, stream>>>(low, scaled(n));
        [[fallthrough]];
    default:
        if (n > 2 and not(n == 5) or false) [[likely]]
            k<<<1, 1, 0, stream>>>(compl n, n bitand 6);
    }
}

// run: n=8
// launch k (1,1,1) (1,1,1) 0 [141:i64, 906:i64]
// launch k (1,1,1) (1,1,1) 0 [4:i64, 32:i64]
// launch k (1,1,1) (1,1,1) 0 [4:i64, 18:i64]
// launch k (1,1,1) (1,1,1) 0 [0:i64, 16:i64]
// launch k (1,1,1) (1,1,1) 0 [-9:i64, 0:i64]
