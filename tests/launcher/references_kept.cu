// A reference stays the variable that it names: of an element, a const one, one captured.
__global__ void k(int a, int b, int c, int d)
{
}

extern "C" void go(int n, cudaStream_t stream)
{
    int v[2] = {1, 2}, x = 1;
    auto &first = v[0];
    const int &seen = x;
    first = 5;
    x = 7;
    auto inner = [&] { return x; };
    {
        int x = 9;
        x++;
        k<<<1, 32, 0, stream>>>(v[0], seen, inner(), x);
    }
}

// run: n=1
// launch k (1,1,1) (32,1,1) 0 [5:i32, 7:i32, 7:i32, 10:i32]
