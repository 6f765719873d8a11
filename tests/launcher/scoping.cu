// Names hide outer ones and come back; a loop's variable is its own; the innermost type wins.
constexpr int n = 5;
__global__ void k(int a, int b, int c, int d)
{
}
static int get()
{
    return n;
}

extern "C" void go(float *p, int rows, cudaStream_t stream)
{
    int n = rows;
    int seen = 0;
    {
        int n = 100;
        seen += n;
    }
    for (int n = 0; n < 3; n++) {
        int rows = n * 10;
        seen += rows;
    }
    using T = float;
    int size = 0;
    {
        using T = double;
        size = sizeof(T);
    }
    k<<<1, 1, 0, stream>>>(n, seen, get(), size * 100 + sizeof(T));
}

// run: rows=7
// launch k (1,1,1) (1,1,1) 0 [7:i32, 130:i32, 5:i32, 804:i32]
