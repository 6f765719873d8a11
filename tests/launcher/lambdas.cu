// Lambdas that launch: the surroundings are seen by reference.
template <int V> __global__ void k(float *p, int n)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    int count = 0;
    auto blocks = [](int total, int each) { return (total + each - 1) / each; };
    auto start = [&](auto kernel, int vec) {
        count++;
        kernel<<<blocks(n, vec), 64, 0, stream>>>(p, count);
    };
    if (n % 4 == 0)
        start(k<4>, 4);
    start(k<1>, 1);
}

// run: n=8
// launch k<4> (2,1,1) (64,1,1) 0 [p, 1:i32]
// launch k<1> (8,1,1) (64,1,1) 0 [p, 2:i32]
