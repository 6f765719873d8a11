// Where const stands, and what it lets change.
__global__ void k(const float *a, int b, int c)
{
}

extern "C" void go(float *const out, const float *in, const int rows, cudaStream_t stream)
{
    int const twice = rows * 2;
    const auto *from = in;
    auto *to = out;
    const int &alias = twice;
    int counter = 0;
    int &same = counter;
    same += 3;
    from += 2;
    auto copy = twice;
    copy++;
    k<<<counter, 32, 0, stream>>>(from, alias + copy, to - out);
}

// run: rows=5
// launch k (3,1,1) (32,1,1) 0 [in+8, 21:i32, 0:i32]
